import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { collectOutcome, createFakeServer, createStreamResponse } from '../../../tests/support/fake-provider-server.ts';
import { systemClock } from '#shared/async/clock.ts';
import { Anthropic } from './anthropic.ts';
import { Google } from './google.ts';
import type { ModelEvent, ModelRequest, Provider } from './provider.ts';

// Generates valid streams in Anthropic's and Google's formats, with the variations of servers and proxies.

const request: ModelRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], reportsUnread: true };
const RUNS = { numRuns: process.env['PERCH_LONG'] ? 20_000 : 1000 };

async function read(Kind: typeof Anthropic | typeof Google, text: string, cuts: number[]) {
  const fetch = createFakeServer(() =>
    createStreamResponse(text, { cuts: cuts.map((cut) => cut % text.length).sort((a, b) => a - b) }),
  ).fetch;
  const provider: Provider = new Kind({ id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1', apiKey: 'k', fetch, clock: systemClock });
  const { events, error } = await collectOutcome(provider, request);
  const join = (type: 'text' | 'reasoning'): string => events.map((event) => (event.type === type ? event.text : '')).join('');
  const only = <T extends ModelEvent['type']>(type: T) =>
    events.filter((event): event is Extract<ModelEvent, { type: T }> => event.type === type);
  return {
    text: join('text'),
    reasoning: join('reasoning'),
    calls: only('tool_call').map(({ call, unread }) => `${call.tool} ${unread ?? JSON.stringify(call.args)}`),
    ends: only('finish').map(({ reason }) => reason),
    usage: only('usage').map(({ usage }) => usage.totalTokens),
    error: error instanceof Error ? error.message : undefined,
  };
}

const words = fc.array(fc.constantFrom('Hel', 'lo ', '😀', 'wörld', ' <b>', '\n\n', '"}'), { minLength: 1, maxLength: 5 });
const calls = fc.array(fc.record({ tool: fc.constantFrom('docs_search', 'look'), query: fc.constantFrom('alpha', '{"}', 'ä😀', '') }), {
  maxLength: 4,
});
const transport = {
  frame: fc.constantFrom('\n\n', '\r\n\r\n'),
  idle: fc.constantFrom('', ': ping\n\n', 'data:\n\n'),
  cuts: fc.array(fc.nat(5000), { maxLength: 12 }),
};

const messages = fc.record({
  ...{ thought: fc.option(words), text: fc.option(words), calls, ...transport },
  /** How arguments arrive: in pieces, or at the start of the call. */
  args: fc.constantFrom('pieces', 'start', 'both'),
  size: fc.integer({ min: 1, max: 20 }),
  /** Blocks one after another, interleaved, or all with one index. */
  order: fc.constantFrom('blocks', 'turns', 'one'),
  stops: fc.boolean(),
  repeats: fc.boolean(),
  named: fc.boolean(),
  ending: fc.constantFrom('whole', 'without stop', 'in two'),
});

type Events = { type?: string; [field: string]: unknown }[];

function writeMessage(answer: typeof messages extends fc.Arbitrary<infer T> ? T : never): Events {
  const blocks: { start: object; deltas: object[] }[] = [];
  if (answer.thought)
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [...answer.thought.map((thinking) => ({ type: 'thinking_delta', thinking })), { type: 'signature_delta', signature: 's' }],
    });
  if (answer.text) blocks.push({ start: { type: 'text', text: '' }, deltas: answer.text.map((text) => ({ type: 'text_delta', text })) });
  for (const [at, { tool, query }] of answer.calls.entries()) {
    const pieces = JSON.stringify({ query }).match(new RegExp(`[^]{1,${answer.size}}`, 'gu')) ?? [];
    blocks.push({
      start: { type: 'tool_use', id: `toolu_${at}`, name: tool, input: answer.args === 'pieces' ? {} : { query } },
      deltas: answer.args === 'start' ? [] : ['', ...pieces].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    });
  }
  const parts = blocks.map(({ start, deltas }, at): Events => {
    const index = answer.order === 'one' ? 0 : at;
    return [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      ...(answer.stops ? [{ type: 'content_block_stop', index }] : []),
    ];
  });
  const longest = Math.max(0, ...parts.map(({ length }) => length));
  const body =
    answer.order === 'turns'
      ? Array.from({ length: longest }, (_, at) => parts.flatMap((part) => part.slice(at, at + 1))).flat()
      : parts.flat();
  const start = { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } };
  const stop_reason = answer.calls.length > 0 ? 'tool_use' : 'end_turn';
  const end = { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 4 } };
  const ends =
    answer.ending === 'in two'
      ? [
          { ...end, delta: {} },
          { type: 'message_delta', delta: { stop_reason } },
        ]
      : [end];
  const again = answer.repeats ? ends : [];
  const last = answer.ending === 'without stop' ? [] : [{ type: 'message_stop' }];
  const events = [start, ...(answer.repeats ? [start] : []), { type: 'ping' }, ...body, { type: 'new_event', x: 1 }] as Events;
  return [...events, ...ends, ...again, ...last] as Events;
}

verifies('providers/odd-calls', 'any valid stream of Anthropic’s format gives the same calls, text and one end', async () => {
  await fc.assert(
    fc.asyncProperty(messages, async (answer) => {
      const text = writeMessage(answer)
        .map((event) => {
          const line = answer.frame.slice(0, answer.frame.length / 2);
          return `${answer.idle}${answer.named ? `event: ${String(event.type)}${line}` : ''}data: ${JSON.stringify(event)}${answer.frame}`;
        })
        .join('');
      expect(await read(Anthropic, text, answer.cuts)).toEqual({
        text: (answer.text ?? []).join(''),
        reasoning: (answer.thought ?? []).join(''),
        calls: answer.calls.map(({ tool, query }) => `${tool} ${JSON.stringify({ query })}`),
        ends: [answer.calls.length > 0 ? 'tool_calls' : 'stop'],
        usage: [7],
        error: undefined,
      });
    }),
    RUNS,
  );
});

const contents = fc.record({
  ...{ thought: fc.option(words), text: fc.option(words), calls, ...transport },
  /** Parts per chunk. */
  perChunk: fc.integer({ min: 1, max: 4 }),
  id: fc.constantFrom('given', 'missing', 'repeated'),
  /** Position of the finish reason: with the last part, in a separate chunk, or in every chunk. */
  reason: fc.constantFrom('last', 'apart', 'every'),
  usage: fc.constantFrom('every', 'last'),
  others: fc.boolean(),
});

function writeContents(answer: typeof contents extends fc.Arbitrary<infer T> ? T : never): object[] {
  const parts: object[] = [];
  for (const text of answer.thought ?? []) parts.push({ text, thought: true });
  for (const text of answer.text ?? []) parts.push({ text });
  for (const [at, { tool: name, query }] of answer.calls.entries()) {
    const functionCall = { name, args: { query }, ...(answer.id === 'missing' ? {} : { id: `call_${at}` }) };
    const part = { functionCall, ...(at === 0 ? { thoughtSignature: 's' } : {}) };
    parts.push(part);
    if (answer.id === 'repeated') parts.push(part);
  }
  const groups: object[][] = [];
  for (let at = 0; at < parts.length; at += answer.perChunk) groups.push(parts.slice(at, at + answer.perChunk));
  if (answer.reason === 'apart' || groups.length === 0) groups.push([]);
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 4 };
  return groups.map((group, at) => {
    const isLast = at === groups.length - 1;
    const candidate = {
      ...(group.length > 0 ? { content: { role: 'model', parts: group } } : {}),
      ...(isLast || answer.reason === 'every' ? { finishReason: 'STOP' } : { finishReason: 'FINISH_REASON_UNSPECIFIED' }),
    };
    const other = { index: 1, content: { parts: [{ text: 'other' }] } };
    return {
      candidates: answer.others ? [{ ...candidate, index: 0 }, other] : [candidate],
      ...(isLast || answer.usage === 'every' ? { usageMetadata } : {}),
    };
  });
}

verifies('providers/odd-calls', 'any valid stream of Google’s format gives the same calls, text and one end', async () => {
  await fc.assert(
    fc.asyncProperty(contents, async (answer) => {
      const text = writeContents(answer)
        .map((chunk) => `${answer.idle}data: ${JSON.stringify(chunk)}${answer.frame}`)
        .join('');
      expect(await read(Google, text, answer.cuts)).toEqual({
        text: (answer.text ?? []).join(''),
        reasoning: (answer.thought ?? []).join(''),
        calls: answer.calls.map(({ tool, query }) => `${tool} ${JSON.stringify({ query })}`),
        ends: [answer.calls.length > 0 ? 'tool_calls' : 'stop'],
        usage: [7],
        error: undefined,
      });
    }),
    RUNS,
  );
});
