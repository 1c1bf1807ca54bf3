import fc from 'fast-check';
import { expect, it } from 'vitest';
import { systemClock } from '#shared/async/clock.ts';
import { verifies } from '../../../tests/requirements.ts';
import { collectOutcome, createFakeServer, createStreamResponse } from '../../../tests/support/fake-provider-server.ts';
import { Anthropic } from './anthropic.ts';
import { ANSWER_TOOL } from './anthropic-options.ts';
import { Google } from './google.ts';
import type { ModelRequest } from './provider.ts';

const NUM_RUNS = process.env['PERCH_LONG'] ? 20_000 : 300;
const request: ModelRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], reportsUnread: true };

/** An answer, and how a server frames and cuts it. */
const baseAnswer = {
  texts: fc.array(fc.constantFrom('Hel', 'lo ', '😀', 'wörld', ' <b>', '\n\n', '{"a":1}', 'data: x'), { maxLength: 6 }),
  thoughts: fc.array(fc.constantFrom('plan', 'a\nb', '…'), { maxLength: 3 }),
  calls: fc.array(fc.record({ tool: fc.constantFrom('docs_search', 'look'), query: fc.constantFrom('alpha', '{"}', 'ä😀', '') }), {
    maxLength: 4,
  }),
  idle: fc.constantFrom('', 'data:\n\n', ': ping\n\n', 'data: null\n\n', 'event: ping\ndata: {"type": "ping"}\n\n'),
  cuts: fc.array(fc.nat(5000), { maxLength: 12 }),
};
interface Answer {
  texts: string[];
  thoughts: string[];
  calls: { tool: string; query: string }[];
  idle: string;
  cuts: number[];
}

/** The stream of these events, in a server's frame. */
function frameEvents(events: readonly { type?: string }[], frame: 'named' | 'unnamed' | 'crlf' | 'lf' | 'lines', idle: string): string {
  const write = (event: { type?: string }): string => {
    const data = JSON.stringify(event);
    switch (frame) {
      case 'named':
        return `${idle}event: ${event.type ?? 'message'}\ndata: ${data}\n\n`;
      case 'unnamed':
        return `${idle}data:${data}\n\n`;
      case 'crlf':
        return `${idle}data: ${data}\r\n\r\n`;
      case 'lf':
        return `data: ${data}\n`;
      case 'lines':
        return `${data}\n`;
    }
  };
  return events.map(write).join('');
}

/** The text, reasoning and calls that a program receives, and the number of ends. */
async function readAnswer(kind: 'anthropic' | 'google', text: string, cuts: readonly number[], more: Partial<ModelRequest> = {}) {
  const { fetch } = createFakeServer(() => createStreamResponse(text, { cuts }));
  const options = { id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1', fetch, clock: systemClock };
  const provider = kind === 'anthropic' ? new Anthropic(options) : new Google(options);
  const { events, error } = await collectOutcome(provider, { ...request, ...more });
  const join = (type: 'text' | 'reasoning'): string => events.map((event) => (event.type === type ? event.text : '')).join('');
  return {
    text: join('text'),
    reasoning: join('reasoning'),
    calls: events.flatMap((event) =>
      event.type === 'tool_call' ? [`${event.call.tool} ${event.unread ?? JSON.stringify(event.call.args)}`] : [],
    ),
    ids: new Set(events.flatMap((event) => (event.type === 'tool_call' ? [event.call.id] : []))).size,
    finish: events.flatMap((event) => (event.type === 'finish' ? [event.reason] : [])),
    usage: events.flatMap((event) => (event.type === 'usage' ? [event.usage.outputTokens] : [])),
    error: error instanceof Error ? error.message : undefined,
  };
}

const toExpected = ({ texts, thoughts, calls }: Answer) => ({
  text: texts.join(''),
  reasoning: thoughts.join(''),
  calls: calls.map(({ tool, query }) => `${tool} ${JSON.stringify({ query })}`),
  ids: calls.length,
  finish: [calls.length > 0 ? 'tool_calls' : 'stop'],
  usage: [7],
  error: undefined,
});

const anthropicAnswers = fc.record({
  ...baseAnswer,
  frame: fc.constantFrom('named', 'unnamed', 'crlf', 'lf', 'lines', 'whole'),
  index: fc.constantFrom('own', 'same'),
  /** Text and thoughts at the start of their block, or in pieces after it. */
  textAt: fc.constantFrom('start', 'delta'),
  argsAt: fc.constantFrom('start', 'delta', 'both'),
  parts: fc.integer({ min: 1, max: 4 }),
  /** Pieces of calls one after the other, or in turn. */
  isInterleaved: fc.boolean(),
  repeatsStart: fc.boolean(),
  hasStop: fc.boolean(),
});
type AnthropicAnswer = typeof anthropicAnswers extends fc.Arbitrary<infer T> ? T : never;

type MessageEvent = { type: string } & Record<string, unknown>;

function writeAnthropic(answer: AnthropicAnswer): string {
  const { texts, thoughts, calls, frame, argsAt, parts } = answer;
  const usage = { input_tokens: 3, output_tokens: 7 };
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
  if (frame === 'whole') {
    const content = [
      ...(thoughts.length > 0 ? [{ type: 'thinking', thinking: thoughts.join(''), signature: 's' }] : []),
      ...(texts.length > 0 ? [{ type: 'text', text: texts.join('') }] : []),
      ...calls.map(({ tool, query }, at) => ({ type: 'tool_use', id: `toolu_${at}`, name: tool, input: { query } })),
    ];
    return JSON.stringify({ id: 'msg_1', type: 'message', role: 'assistant', content, stop_reason, stop_sequence: null, usage });
  }
  let blocks = 0;
  const nextIndex = (): number => (answer.index === 'own' ? blocks++ : 0);
  const write = (index: number, start: object, deltas: object[]): MessageEvent[] => [
    ...Array.from({ length: answer.repeatsStart && 'id' in start ? 2 : 1 }, () => ({
      type: 'content_block_start',
      ...{ index, content_block: start },
    })),
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  const writeText = (type: 'text' | 'thinking', pieces: readonly string[]): MessageEvent[] => {
    if (pieces.length === 0) return [];
    const [first, rest] = answer.textAt === 'start' ? [pieces[0] ?? '', pieces.slice(1)] : ['', pieces];
    return write(
      nextIndex(),
      { type, [type]: first },
      rest.map((piece) => ({ type: `${type}_delta`, [type]: piece })),
    );
  };
  const events = [...writeText('thinking', thoughts), ...writeText('text', texts)];
  const written = calls.map(({ tool, query }, at) => {
    const args = JSON.stringify({ query });
    const size = Math.ceil(args.length / parts);
    const pieces = Array.from({ length: Math.ceil(args.length / size) }, (_, part) => args.slice(part * size, (part + 1) * size));
    return write(
      nextIndex(),
      { type: 'tool_use', id: `toolu_${at}`, name: tool, input: argsAt === 'delta' ? {} : { query } },
      argsAt === 'start' ? [] : pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    );
  });
  const isInTurn = answer.isInterleaved && answer.index === 'own';
  const longest = Math.max(0, ...written.map(({ length }) => length));
  const callEvents = isInTurn
    ? Array.from({ length: longest }, (_, at) => written.flatMap((list) => list[at] ?? [])).flat()
    : written.flat();
  const all = [
    { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } },
    ...events,
    ...callEvents,
    { type: 'message_delta', delta: { stop_reason }, usage },
    ...(answer.hasStop ? [{ type: 'message_stop' }] : []),
  ];
  return frameEvents(all, frame, answer.idle);
}

verifies('providers/odd-calls', 'any valid stream of Anthropic’s format gives the same calls, text and one end', async () => {
  await fc.assert(
    fc.asyncProperty(anthropicAnswers, async (answer) => {
      expect(await readAnswer('anthropic', writeAnthropic(answer), answer.cuts)).toEqual(toExpected(answer));
    }),
    { numRuns: NUM_RUNS },
  );
});

const googleAnswers = fc.record({
  ...baseAnswer,
  frame: fc.constantFrom('unnamed', 'crlf', 'lf', 'lines', 'list', 'pretty list'),
  id: fc.constantFrom('own', 'none', 'repeated'),
  /** Parts in a chunk each, or in one. */
  isOneChunk: fc.boolean(),
  /** The reason of the end in a chunk of its own, with the last part, or before the usage. */
  end: fc.constantFrom('own', 'last', 'before usage'),
  hasEmptyParts: fc.boolean(),
});
type GoogleAnswer = typeof googleAnswers extends fc.Arbitrary<infer T> ? T : never;

function writeGoogle({ texts, thoughts, calls, id, isOneChunk, end, hasEmptyParts, frame, idle }: GoogleAnswer): string {
  const called = calls.map(({ tool, query }, at) => ({
    functionCall: { ...(id === 'none' ? {} : { id: `call_${at}` }), name: tool, args: { query } },
  }));
  const parts: object[] = [
    ...thoughts.map((text) => ({ text, thought: true })),
    ...(hasEmptyParts ? [{ text: '' }] : []),
    ...texts.map((text) => ({ text })),
    ...called,
    ...(id === 'repeated' ? called : []),
    ...(hasEmptyParts ? [{ text: '' }] : []),
  ];
  const groups = isOneChunk ? [parts] : parts.map((part) => [part]);
  if (end !== 'last' || groups.length === 0) groups.push([]);
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 7 };
  const chunks: object[] = groups.map((group, at) => {
    const isLast = at === groups.length - 1;
    const candidate = {
      ...(group.length > 0 ? { content: { role: 'model', parts: group } } : {}),
      ...(isLast ? { finishReason: 'STOP' } : {}),
    };
    return { candidates: [candidate], ...(isLast && end !== 'before usage' ? { usageMetadata } : {}) };
  });
  if (end === 'before usage') chunks.push({ usageMetadata });
  if (frame === 'list') return JSON.stringify(chunks);
  return frame === 'pretty list' ? JSON.stringify(chunks, null, 2) : frameEvents(chunks, frame, idle);
}

verifies('providers/odd-calls', 'any valid stream of Google’s format gives the same calls, text and one end', async () => {
  await fc.assert(
    fc.asyncProperty(googleAnswers, async (answer) => {
      expect(await readAnswer('google', writeGoogle(answer), answer.cuts)).toEqual(toExpected(answer));
    }),
    { numRuns: NUM_RUNS },
  );
});

verifies('providers/reported-errors', 'an error in a list of Google’s chunks ends the answer with the server’s words', async () => {
  const list = [{ candidates: [{ content: { parts: [{ text: 'Hel' }] } }] }, { error: { code: 503, message: 'no room' } }];
  expect(await readAnswer('google', JSON.stringify(list), [])).toMatchObject({ finish: [], error: expect.stringContaining('no room') });
});

it('reads a structured answer that Anthropic’s server sends at once', async () => {
  const responseFormat = { type: 'json_schema', name: 'answer', schema: { type: 'object' } } as const;
  const events = [
    { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: ANSWER_TOOL, input: { a: 1 } } },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ];
  const { text, calls } = await readAnswer('anthropic', frameEvents(events, 'named', ''), [], { responseFormat });
  expect([text, calls]).toEqual(['{"a":1}', []]);
});
