import { expect } from 'vitest';
import type { GgufRequest } from '#shared/ports/gguf-port.ts';
import { verifies } from '../../../tests/requirements.ts';
import { promptBuiltInModel, toPrompts } from './prompt-built-in-model.ts';
import { findBestOptions, type LanguageModel, type Prompt } from './language-model.ts';

/** A model that counts words, and says `words`. */
function createFakeModel(words: string[], { window = 100 }: { window?: number } = {}) {
  const count = (input: Prompt[] | string): number =>
    (typeof input === 'string' ? input : input.map(({ content }) => content).join(' ')).split(/\s+/).filter(Boolean).length;
  const requests: object[] = [];
  const left: string[] = [];
  const model: LanguageModel = {
    availability: async () => 'available',
    async create({ initialPrompts = [], expectedOutputs }) {
      return {
        contextUsage: count(initialPrompts),
        contextWindow: window,
        measureContextUsage: async (input) => count(input),
        promptStreaming(input, { signal, responseConstraint }) {
          requests.push({ before: initialPrompts, input, responseConstraint, languages: expectedOutputs?.[0]?.languages });
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
  return { model, asked: requests, left };
}

async function promptModel(
  at: ReturnType<typeof createFakeModel>,
  request: Partial<GgufRequest> = {},
  signal = new AbortController().signal,
) {
  let streamed = '';
  const result = await promptBuiltInModel(
    at.model,
    { messages: [{ role: 'user', text: 'Who is there?' }], ...request },
    { locale: 'en', signal, onText: ({ text }) => (streamed += text) },
  );
  return { said: streamed, ...result };
}

verifies('built-in-model/answer', 'instructions go first, the last message is the question, and a started answer is continued', () => {
  expect(
    toPrompts([
      { role: 'system', text: 'Be kind.' },
      { role: 'user', text: 'One?' },
      { role: 'assistant', text: '', toolCalls: [] },
      { role: 'tool', text: '1', toolCallId: 'x' },
      { role: 'assistant', text: 'One.' },
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'Two?' },
    ]),
  ).toEqual({
    history: [
      { role: 'system', content: 'Be kind.\n\nBe brief.' },
      { role: 'user', content: 'One?' },
      { role: 'user', content: '1' },
      { role: 'assistant', content: 'One.' },
    ],
    current: [{ role: 'user', content: 'Two?' }],
  });
  expect(
    toPrompts([
      { role: 'user', text: 'Count.' },
      { role: 'assistant', text: 'One, ' },
    ]).current,
  ).toEqual([
    { role: 'user', content: 'Count.' },
    { role: 'assistant', content: 'One, ', prefix: true },
  ]);
  expect(() => toPrompts([{ role: 'system', text: 'Be kind.' }])).toThrow('unasked');
});

verifies('built-in-model/answer', 'with its figures, and no longer than it may be', async () => {
  expect(
    await promptModel(createFakeModel(['It ', 'is ', 'I.']), {
      messages: [
        { role: 'system', text: 'Be kind.' },
        { role: 'user', text: 'Who?' },
      ],
    }),
  ).toEqual({
    ...{ said: 'It is I.', finish: 'stop', calls: [], inputTokens: 3, cachedTokens: 0, outputTokens: 3, contextWindow: 100 },
  });
  const long = createFakeModel(['one ', 'two ', 'three ', 'four ']);
  expect(await promptModel(long, { maxTokens: 2 })).toMatchObject({ said: 'one two ', finish: 'length', outputTokens: 2 });
  expect(long.left).toEqual(['cancelled', 'destroyed']);
  expect(await promptModel(createFakeModel(['one STOP two']), { stop: ['STOP'] })).toMatchObject({ said: 'one ', finish: 'stop' });
  const json = createFakeModel(['{}']);
  await promptModel(json, { json: { type: 'object', required: [] } });
  await promptModel(json, { json: true });
  expect(json.asked).toMatchObject([{ responseConstraint: { type: 'object', required: [] } }, { responseConstraint: { type: 'object' } }]);
});

verifies('built-in-model/answer', 'distinguishes too long prompts, unsupported requests and errors', async () => {
  await expect(promptModel(createFakeModel([], { window: 3 }))).rejects.toMatchObject({
    extra: { details: { reason: 'too-long', tokens: 3, takes: 3 } },
  });
  for (const [name, details] of [
    ['QuotaExceededError', { reason: 'too-long' }],
    ['NotSupportedError', { reason: 'unfit', why: 'no' }],
    ['UnknownError', { reason: 'failed', why: 'no' }],
  ] as const) {
    const at = createFakeModel([]);
    at.model.create = () => Promise.reject(new DOMException('no', name));
    await expect(promptModel(at)).rejects.toMatchObject({ extra: { details } });
  }
  const stop = new AbortController();
  const endless = createFakeModel(Array.from({ length: 1000 }, () => 'on '));
  const reply = promptBuiltInModel(
    endless.model,
    { messages: [{ role: 'user', text: 'Go' }] },
    { locale: 'en', signal: stop.signal, onText: () => stop.abort(new Error('enough')) },
  );
  await expect(reply).rejects.toThrow('enough');
  expect(endless.left).toContain('destroyed');
});

verifies('built-in-model/answer', 'it is told the language of the app where it speaks that, else English', async () => {
  const wish = async (locale: string) => (await findBestOptions(createFakeModel([]).model, locale)).options.expectedOutputs?.[0]?.languages;
  expect(await Promise.all(['ja', 'en', 'pt-BR', 'zh-CN'].map(wish))).toEqual([['ja'], ['en'], ['en'], ['en']]);
});
