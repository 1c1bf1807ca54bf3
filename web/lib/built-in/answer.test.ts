import { expect } from 'vitest';
import type { GgufRequest } from '#shared/ports/gguf.ts';
import { verifies } from '../../../tests/requirements.ts';
import { answerOf, turnsOf } from './answer.ts';
import { bestWish, type LanguageModel, type Prompt } from './language-model.ts';

/** A model that counts words, and says `words`. */
function fake(words: string[], { window = 100 }: { window?: number } = {}) {
  const count = (input: Prompt[] | string): number =>
    (typeof input === 'string' ? input : input.map(({ content }) => content).join(' ')).split(/\s+/).filter(Boolean).length;
  const asked: object[] = [];
  const left: string[] = [];
  const model: LanguageModel = {
    availability: async () => 'available',
    async create({ initialPrompts = [], expectedOutputs }) {
      return {
        contextUsage: count(initialPrompts),
        contextWindow: window,
        measureContextUsage: async (input) => count(input),
        promptStreaming(input, { signal, responseConstraint }) {
          asked.push({ before: initialPrompts, input, responseConstraint, languages: expectedOutputs?.[0]?.languages });
          const pieces = [...words];
          return new ReadableStream<string>(
            {
              pull(controller) {
                if (signal?.aborted) return controller.error(signal.reason);
                const piece = pieces.shift();
                if (piece === undefined) controller.close();
                else controller.enqueue(piece);
              },
              cancel: () => void left.push('cancelled'),
            },
            { highWaterMark: 0 },
          );
        },
        destroy: () => void left.push('destroyed'),
      };
    },
  };
  return { model, asked, left };
}

async function ask(at: ReturnType<typeof fake>, request: Partial<GgufRequest> = {}, signal = new AbortController().signal) {
  let said = '';
  const answer = await answerOf(
    at.model,
    { messages: [{ role: 'user', text: 'Who is there?' }], ...request },
    { locale: 'en', signal, say: ({ text }) => (said += text) },
  );
  return { said, ...answer };
}

verifies('built-in-model/answer', 'instructions go first, the last message is the question, and a started answer is continued', () => {
  expect(
    turnsOf([
      { role: 'system', text: 'Be kind.' },
      { role: 'user', text: 'One?' },
      { role: 'assistant', text: '', toolCalls: [] },
      { role: 'tool', text: '1', toolCallId: 'x' },
      { role: 'assistant', text: 'One.' },
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'Two?' },
    ]),
  ).toEqual({
    before: [
      { role: 'system', content: 'Be kind.\n\nBe brief.' },
      { role: 'user', content: 'One?' },
      { role: 'user', content: '1' },
      { role: 'assistant', content: 'One.' },
    ],
    asked: [{ role: 'user', content: 'Two?' }],
  });
  expect(
    turnsOf([
      { role: 'user', text: 'Count.' },
      { role: 'assistant', text: 'One, ' },
    ]).asked,
  ).toEqual([
    { role: 'user', content: 'Count.' },
    { role: 'assistant', content: 'One, ', prefix: true },
  ]);
  expect(() => turnsOf([{ role: 'system', text: 'Be kind.' }])).toThrow('unasked');
});

verifies('built-in-model/answer', 'with its figures, and no longer than it may be', async () => {
  expect(
    await ask(fake(['It ', 'is ', 'I.']), {
      messages: [
        { role: 'system', text: 'Be kind.' },
        { role: 'user', text: 'Who?' },
      ],
    }),
  ).toEqual({
    ...{ said: 'It is I.', finish: 'stop', calls: [], inputTokens: 3, cachedTokens: 0, outputTokens: 3, contextWindow: 100 },
  });
  const long = fake(['one ', 'two ', 'three ', 'four ']);
  expect(await ask(long, { maxTokens: 2 })).toMatchObject({ said: 'one two ', finish: 'length', outputTokens: 2 });
  expect(long.left).toEqual(['cancelled', 'destroyed']);
  expect(await ask(fake(['one STOP two']), { stop: ['STOP'] })).toMatchObject({ said: 'one ', finish: 'stop' });
  const json = fake(['{}']);
  await ask(json, { json: { type: 'object', required: [] } });
  await ask(json, { json: true });
  expect(json.asked).toMatchObject([{ responseConstraint: { type: 'object', required: [] } }, { responseConstraint: { type: 'object' } }]);
});

verifies('built-in-model/answer', 'distinguishes too long prompts, unsupported requests and errors', async () => {
  await expect(ask(fake([], { window: 3 }))).rejects.toMatchObject({
    extra: { details: { reason: 'too-long', tokens: 3, takes: 3 } },
  });
  for (const [name, details] of [
    ['QuotaExceededError', { reason: 'too-long' }],
    ['NotSupportedError', { reason: 'unfit', why: 'no' }],
    ['UnknownError', { reason: 'failed', why: 'no' }],
  ] as const) {
    const at = fake([]);
    at.model.create = () => Promise.reject(new DOMException('no', name));
    await expect(ask(at)).rejects.toMatchObject({ extra: { details } });
  }
  const stop = new AbortController();
  const endless = fake(Array.from({ length: 1000 }, () => 'on '));
  const asked = answerOf(
    endless.model,
    { messages: [{ role: 'user', text: 'Go' }] },
    { locale: 'en', signal: stop.signal, say: () => stop.abort(new Error('enough')) },
  );
  await expect(asked).rejects.toThrow('enough');
  expect(endless.left).toContain('destroyed');
});

verifies('built-in-model/answer', 'it is told the language of the app where it speaks that, else English', async () => {
  const wish = async (locale: string) => (await bestWish(fake([]).model, locale)).wished.expectedOutputs?.[0]?.languages;
  expect(await Promise.all(['ja', 'en', 'pt-BR', 'zh-CN'].map(wish))).toEqual([['ja'], ['en'], ['en'], ['en']]);
});
