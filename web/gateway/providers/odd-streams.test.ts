import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import {
  toNamedEvents,
  collectOutcome,
  createFakeServer,
  createStreamResponse,
  toUnnamedEvents,
} from '../../../tests/support/fake-provider-server.ts';
import { SseScanner } from '#shared/http/sse.ts';
import { systemClock } from '#shared/async/clock.ts';
import { Anthropic } from './anthropic.ts';
import { OpenAiCompatible } from './openai-compatible.ts';
import type { ModelEvent, ModelRequest, Provider } from './provider.ts';

const KINDS = ['openai-compatible', 'openai', 'ollama', 'openrouter', 'lmstudio', 'deepseek'] as const;
const request: ModelRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], reportsUnread: true };

type Kind = (typeof KINDS)[number] | 'anthropic';

const toProvider = (kind: Kind, answer: () => Response): Provider => {
  const options = { id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1', fetch: createFakeServer(answer).fetch, clock: systemClock };
  return kind === 'anthropic' ? new Anthropic(options) : new OpenAiCompatible({ ...options, kind });
};

/** Result of a request: its text, thoughts, calls and images, and its single end. */
async function read(text: string, kind: Kind = 'openai-compatible', cuts: number[] = []) {
  const { events, error } = await collectOutcome(
    toProvider(kind, () => createStreamResponse(text, { cuts })),
    request,
  );
  return { ...summarise(events), error: error instanceof Error ? error.message : undefined };
}

function summarise(events: readonly ModelEvent[]) {
  const join_ = (type: 'text' | 'reasoning'): string => events.map((event) => (event.type === type ? event.text : '')).join('');
  return {
    text: join_('text'),
    reasoning: join_('reasoning'),
    calls: events.flatMap((event) =>
      event.type === 'tool_call'
        ? [`${event.call.tool} ${event.unread ? `unread: ${event.unread}` : JSON.stringify(event.call.args)}`]
        : [],
    ),
    pictures: events.filter(({ type }) => type === 'picture').length,
    ends: events.filter(({ type }) => type === 'finish').length,
  };
}

const fixture = (name: string): string => readFileSync(join(import.meta.dirname, 'odd-streams', name), 'utf8');
const validOutcome = { text: '', reasoning: '', calls: [] as string[], pictures: 0, ends: 1, error: undefined };
const ALPHA = 'docs_search {"query":"alpha"}';
const BETA = 'docs_search {"query":"beta"}';
const chunk = (delta: object, finish: string | null = null): object => ({ choices: [{ index: 0, delta, finish_reason: finish }] });
const finish = (reason: string): object => chunk({}, reason);
const stream = (...chunks: object[]): string => `${toUnnamedEvents(...chunks)}data: [DONE]\n\n`;
const call = (part: object): object => chunk({ tool_calls: [part] });
const search = (args: string, more: object = {}): object => ({ index: 0, function: { name: 'docs_search', arguments: args }, ...more });

describe.each(KINDS)('an odd stream of the kind %s', (kind) => {
  verifies('providers/odd-calls', 'has each call once, wherever its pieces belong', async () => {
    expect(await read(fixture('parallel-same-index.sse'), kind)).toEqual({ ...validOutcome, calls: [ALPHA, BETA] });
    expect(await read(fixture('name-repeated.sse'), kind)).toEqual({ ...validOutcome, calls: [ALPHA] });
    const [alpha, beta] = ['{"query":"alpha"}', '{"query":"beta"}'];
    // Without ids, in one chunk, and with numbers as ids.
    expect(await read(stream(call(search(alpha)), call(search(beta)), finish('tool_calls')), kind)).toEqual({
      ...validOutcome,
      calls: [ALPHA, BETA],
    });
    expect(await read(stream(chunk({ tool_calls: [search(alpha), search(beta)] }), finish('tool_calls')), kind)).toEqual({
      ...validOutcome,
      calls: [ALPHA, BETA],
    });
    expect(await read(stream(call(search(alpha, { id: 1 })), call(search(beta, { id: 2 })), finish('stop')), kind)).toEqual({
      ...validOutcome,
      calls: [ALPHA, BETA],
    });
    // Names in halves, and names repeated with what came before.
    for (const names of [
      ['docs_', 'search'],
      ['docs_', 'docs_search'],
    ])
      expect(
        await read(
          stream(
            ...names.map((name, at) => call({ index: 0, ...(at === 0 ? { id: 'a' } : {}), function: { name } })),
            call({ index: 0, function: { arguments: alpha } }),
            finish('tool_calls'),
          ),
          kind,
        ),
      ).toEqual({ ...validOutcome, calls: [ALPHA] });
    // A late id, pieces without an index, arguments as an object, and arguments encoded twice.
    expect(
      await read(
        stream(call(search('{"query":')), call({ index: 0, id: 'a', function: { arguments: '"alpha"}' } }), finish('tool_calls')),
        kind,
      ),
    ).toEqual({ ...validOutcome, calls: [ALPHA] });
    expect(
      await read(
        stream(
          call({ id: 'a', function: { name: 'docs_search', arguments: '{"query":' } }),
          call({ function: { arguments: '"alpha"}' } }),
          finish('tool_calls'),
        ),
        kind,
      ),
    ).toEqual({ ...validOutcome, calls: [ALPHA] });
    expect(
      await read(stream(call({ ...search(''), function: { name: 'docs_search', arguments: { query: 'alpha' } } }), finish('stop')), kind),
    ).toEqual({ ...validOutcome, calls: [ALPHA] });
    expect(await read(stream(call(search(JSON.stringify(alpha))), finish('stop')), kind)).toEqual({ ...validOutcome, calls: [ALPHA] });
    // The deprecated `function_call`.
    const former = chunk({ function_call: { name: 'docs_search', arguments: '{"query":' } });
    expect(await read(stream(former, chunk({ function_call: { arguments: '"alpha"}' } }), finish('function_call')), kind)).toEqual({
      ...validOutcome,
      calls: [ALPHA],
    });
  });

  verifies('providers/keep-alive', 'is kept alive by events that say nothing', async () => {
    expect(await read(fixture('empty-data.sse'), kind)).toEqual({ ...validOutcome, text: 'Hello' });
    const hello = JSON.stringify(chunk({ content: 'Hello' }, 'stop'));
    for (const idle of [
      'data:\n\n',
      'data: null\n\n',
      'data: {}\n\n',
      ': ping\n\n',
      'event: ping\ndata: {}\n\n',
      'data: ping\n\n',
      'retry: 10\n\n',
    ])
      expect(await read(`${idle}data: ${hello}\n\n${idle}data: [done]\n\n`, kind), idle).toEqual({ ...validOutcome, text: 'Hello' });
  });

  verifies('providers/thoughts-in-text', 'has its thoughts told from its answer', async () => {
    expect(await read(fixture('think-in-content.sse'), kind)).toEqual({ ...validOutcome, text: 'Hello', reasoning: 'plan' });
    const said = (...texts: string[]) => read(stream(...texts.map((content) => chunk({ content })), finish('stop')), kind);
    expect(await said('<th', 'ink>pl', 'an</thi', 'nk>\n\nHello')).toEqual({ ...validOutcome, text: 'Hello', reasoning: 'plan' });
    expect(await said('plan</think>Hello')).toEqual({ ...validOutcome, text: 'Hello', reasoning: 'plan' });
    expect(await said('<think>plan')).toEqual({ ...validOutcome, reasoning: 'plan' });
    expect(await said('<think></think>Hello')).toEqual({ ...validOutcome, text: 'Hello' });
    expect(await said('Write `<think>` or `</think>`.')).toEqual({ ...validOutcome, text: 'Write `<think>` or `</think>`.' });
    expect(
      await read(stream(chunk({ content: '<think>plan</think>' }), call(search('{"query":"alpha"}')), finish('tool_calls')), kind),
    ).toEqual({
      ...validOutcome,
      reasoning: 'plan',
      calls: [ALPHA],
    });
  });

  verifies('providers/reported-errors', 'fails with the server’s words, whatever form they have', async () => {
    expect(await read(fixture('error-field.sse'), kind)).toMatchObject({ ends: 0, error: expect.stringContaining('context size') });
    expect(await read(fixture('finish-reason-error.sse'), kind)).toMatchObject({
      ...{ text: 'Hello', ends: 0 },
      error: 'Upstream reported an error: Upstream error',
    });
    const begun = toUnnamedEvents(chunk({ content: 'Hel' }));
    for (const [text, message] of [
      [toUnnamedEvents({ detail: 'no room' }), 'no room'],
      ['event: error\ndata: {"detail":"no room"}\n\n', 'no room'],
      ['event: error\ndata: {"message":"no room","code":503}\n\n', 'no room'],
      ['event: error\ndata: no room\n\n', 'no room'],
      [toUnnamedEvents({ base_resp: { status_code: 1004, status_msg: 'no room' } }), 'no room'],
      [toUnnamedEvents(finish('error')), 'stopped with an error'],
    ] as const)
      expect(await read(`${begun}${text}data: [DONE]\n\n`, kind), text).toMatchObject({
        ...{ text: 'Hel', ends: 0 },
        error: expect.stringContaining(message),
      });
    expect(
      await read(stream({ base_resp: { status_code: 0, status_msg: 'success' }, ...chunk({ content: 'Hello' }, 'stop') }), kind),
    ).toEqual({
      ...validOutcome,
      text: 'Hello',
    });
  });

  verifies('providers/framing', 'is read whatever its frame: one line feed, JSON on lines, one whole answer', async () => {
    const [hel, lo] = [chunk({ content: 'Hel' }), chunk({ content: 'lo' }, 'stop')].map((each) => JSON.stringify(each)) as [string, string];
    const whole = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }] });
    for (const text of [
      `data: ${hel}\ndata: ${lo}\ndata: [DONE]\n`,
      `${hel}\n${lo}\n`,
      `${hel}\n${lo}`,
      whole,
      `\n${whole}\n`,
      `data: ${whole}\n\n`,
    ])
      for (const cuts of [[], [3], [30, 31, 60], [text.length - 2]])
        expect(await read(text, kind, cuts), text).toEqual({ ...validOutcome, text: 'Hello' });
  });

  verifies('providers/pictures', 'gives the pictures that the model made, and fetches none from elsewhere', async () => {
    const picture = (url: string): object => ({ type: 'image_url', image_url: { url } });
    const images = [picture('data:image/png;base64,iVBORw0KGgo='), picture('https://evil.test/x.png')];
    expect(await read(stream(chunk({ content: 'Here', images }), finish('stop')), kind)).toEqual({
      ...validOutcome,
      text: 'Here',
      pictures: 1,
    });
  });
});

describe('Anthropic’s format', () => {
  verifies('providers/odd-calls', 'has arguments that came at once, and never runs a call whose arguments were lost', async () => {
    expect(await read(fixture('anthropic-input-at-start.sse'), 'anthropic')).toEqual({ ...validOutcome, calls: [ALPHA] });
    const calling = (block: object, ...deltas: string[]): string =>
      toNamedEvents(
        { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } },
        { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't1', name: 'docs_search', ...block } },
        ...deltas.map((partial) => ({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: partial } })),
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 4 } },
        { type: 'message_stop' },
      );
    expect((await read(calling({ input: {} }, '{"query":', '"alpha"}'), 'anthropic')).calls).toEqual([ALPHA]);
    expect((await read(calling({ input: {} }), 'anthropic')).calls).toEqual(['docs_search {}']);
    expect((await read(calling({ input: {} }, ''), 'anthropic')).calls).toEqual(['docs_search {}']);
    expect((await read(calling({}), 'anthropic')).calls).toEqual(['docs_search unread: are missing']);
  });

  it('is kept alive by pings and events without data', async () => {
    const text = toNamedEvents(
      { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hello' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
    );
    expect(await read(`data:\n\ndata: null\n\n${text}data:\n\n${toNamedEvents({ type: 'message_stop' })}`, 'anthropic')).toEqual({
      ...validOutcome,
      text: 'Hello',
    });
  });
});

it('a model that ends thoughts which it never began thinks first in its next answers', async () => {
  const pieces = ['pl', 'an</think>', 'Hello'];
  const provider = toProvider('openai-compatible', () =>
    createStreamResponse(stream(...pieces.map((content) => chunk({ content })), finish('stop'))),
  );
  expect(summarise((await collectOutcome(provider, request)).events)).toEqual({
    ...validOutcome,
    error: undefined,
    text: 'planHello',
    calls: [],
  });
  expect(summarise((await collectOutcome(provider, request)).events)).toMatchObject({ text: 'Hello', reasoning: 'plan' });
});

it('the text at which a server says that it stopped is known', async () => {
  const stopped = { choices: [{ index: 0, delta: { content: 'So' }, finish_reason: 'stop', stop_reason: 'END' }] };
  const provider = toProvider('openai-compatible', () => createStreamResponse(stream(stopped)));
  expect((await collectOutcome(provider, request)).events.at(-1)).toEqual({ type: 'finish', reason: 'stop', stopSequence: 'END' });
});

verifies(
  'providers/large-events',
  'events of up to 25 MiB are read, larger ones refused, and all streams together hold 256 MiB',
  async () => {
    const images = (length: number): string =>
      stream(chunk({ content: 'ok', images: [{ image_url: { url: `data:image/png;base64,${'A'.repeat(length)}` } }] }, 'stop'));
    for (const length of [1_500_000, 20_000_000]) expect(await read(images(length))).toEqual({ ...validOutcome, text: 'ok', pictures: 1 });
    expect(await read(images(26 * 1024 * 1024))).toMatchObject({ ends: 0, error: 'Upstream sent an event that is too large.' });
    // Streams inside a large event hold its bytes until they are closed.
    const bytes = new TextEncoder().encode(`data: "${'A'.repeat(20 * 1024 * 1024)}`);
    const open = Array.from({ length: 20 }, () => new SseScanner());
    const held = open.map((scanner) => {
      try {
        return scanner.push(bytes).length;
      } catch (error) {
        return (error as Error).name;
      }
    });
    expect(held.filter((each) => each === 0)).toHaveLength(12);
    expect(held.filter((each) => each === 'SseOverload')).toHaveLength(8);
    expect(await read(images(2_000_000), 'openai-compatible', [1_000_000, 1_900_000])).toMatchObject({ ends: 1 });
    expect(await read(images(22_000_000), 'openai-compatible', [21_000_000])).toMatchObject({
      error: 'Perch is reading too many large responses at once. Try again.',
    });
    for (const scanner of open) scanner.close();
    expect(await read(images(22_000_000), 'openai-compatible', [21_000_000])).toMatchObject({ ends: 1 });
  },
);

/** A server's way to write one answer: the same calls and text in one of many forms. */
const writtenAnswers = fc.record({
  text: fc.array(fc.constantFrom('Hel', 'lo ', '😀', 'wörld', ' <b>', '\n\n'), { maxLength: 6 }),
  thought: fc.option(fc.constantFrom('plan', 'a\nb', '')),
  calls: fc.array(fc.record({ tool: fc.constantFrom('docs_search', 'look'), query: fc.constantFrom('alpha', '{"}', 'ä😀', '') }), {
    maxLength: 4,
  }),
  index: fc.constantFrom('own', 'same', 'none'),
  id: fc.constantFrom('string', 'number', 'repeated'),
  name: fc.constantFrom('whole', 'halves', 'repeated'),
  parts: fc.integer({ min: 1, max: 4 }),
  frame: fc.constantFrom('\n\n', '\r\n\r\n', '\n', 'lines'),
  idle: fc.constantFrom('', 'data:\n\n', ': ping\n\n', 'data: null\n\n'),
  cuts: fc.array(fc.nat(5000), { maxLength: 12 }),
});
type WrittenAnswer = typeof writtenAnswers extends fc.Arbitrary<infer T> ? T : never;

/** Chunks of an answer. Servers that write a call in several pieces identify it by index or id. */
function writeChunks({ text, thought, calls, index, id, name, parts }: WrittenAnswer): object[] {
  const chunks = thought === null ? [] : [chunk({ content: `<think>${thought}</think>` })];
  chunks.push(...text.map((content) => chunk({ content })));
  for (const [at, { tool, query }] of calls.entries()) {
    const args = JSON.stringify({ query });
    const size = Math.ceil(args.length / parts);
    const pieces = Array.from({ length: Math.ceil(args.length / size) }, (_, part) => args.slice(part * size, (part + 1) * size));
    const given = id === 'number' ? at + 1 : `call_${at}`;
    for (const [part, piece] of pieces.entries()) {
      const names =
        name === 'halves' && pieces.length > 1
          ? [tool.slice(0, 2), tool.slice(2)]
          : name === 'repeated' && index !== 'none'
            ? pieces.map(() => tool)
            : [tool];
      chunks.push(
        call({
          ...(index === 'none' ? {} : { index: index === 'own' ? at : 0 }),
          ...(part === 0 || id === 'repeated' ? { id: given } : {}),
          function: {
            ...(names[part] === undefined || (index === 'none' && part > 0 && id !== 'repeated') ? {} : { name: names[part] }),
            arguments: piece,
          },
        }),
      );
    }
  }
  return [...chunks, finish(calls.length > 0 ? 'tool_calls' : 'stop')];
}

verifies('providers/odd-calls', 'any valid stream, cut and written as servers do, gives the same calls, text and one end', async () => {
  await fc.assert(
    fc.asyncProperty(writtenAnswers, async (given) => {
      const answer = { ...given, name: given.index === 'none' && given.name === 'halves' ? 'whole' : given.name };
      const lines = writeChunks(answer).map((each) => JSON.stringify(each));
      const { frame, idle } = answer;
      const written =
        frame === 'lines' ? `${lines.join('\n')}\n` : lines.map((line) => `${frame === '\n' ? '' : idle}data: ${line}${frame}`).join('');
      const text = frame === 'lines' ? written : `${written}data: [DONE]${frame}`;
      const { error, ...got } = await read(
        text,
        'openai-compatible',
        answer.cuts.map((cut) => cut % text.length).sort((a, b) => a - b),
      );
      const said = answer.text.join('');
      expect({ ...got, error }).toEqual({
        ...validOutcome,
        text: said.trimStart(),
        reasoning: answer.thought ?? '',
        calls: answer.calls.map(({ tool, query }) => `${tool} ${JSON.stringify({ query })}`),
      });
    }),
    { numRuns: process.env['PERCH_LONG'] ? 20_000 : 1000 },
  );
});
