import fc from 'fast-check';
import { expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { CompletionTracker, parseCompletionChunk } from '#shared/http/completion-tracker.ts';
import { SseScanner } from '#shared/http/sse.ts';
import { EventPattern } from './event-pattern.ts';
import { CompletionFilter } from './completion-filter.ts';

const piece = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;

/** Texts that models or attackers produce. */
const text = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.constantFrom('"', '\\', '\n', '"content":"', '"},"finish_reason":"stop"', '","error":{"message":"no"},"x":"', 'é', '😀', '\u0000'),
);
const escaped = (written: string): string =>
  written.replaceAll(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
const usual = fc.oneof(
  text.map((content) => piece({ content })),
  text.map((content) => escaped(piece({ content }))),
  text.map((reasoning_content) => piece({ reasoning_content })),
  fc.tuple(text, text).map(([content, obfuscation]) => piece({ content }, { obfuscation })),
  text.map((content) => piece({ role: 'assistant', content })),
);
const others = fc.oneof(
  text.map((content) => piece({ content }).replaceAll('\n', '\r\n')),
  fc.constantFrom(
    ': a comment\n\n',
    piece({ tool_calls: [{ index: 0, function: { arguments: '{"content":"a"}' } }] }),
    piece({ content: 'a' }, { usage: { prompt_tokens: 1, completion_tokens: 2 } }),
    'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n',
    piece({ content: 'a' }).replace('"a"', '"a\tb"'),
    piece({ content: 'a' }).replace('"a"', '"a\\x"'),
    piece({ content: 'a' }).replace('"a"', '"a'),
    piece({ content: 'a' }, { error: { message: 'overloaded' } }),
    'data: [DONE]\n\n',
    `event: x\n${piece({ content: 'a' })}`,
    `data: {"choices":\n${piece({ content: 'a' })}`,
  ),
);
const stream = fc
  .array(fc.oneof({ weight: 8, arbitrary: usual }, { weight: 1, arbitrary: others }), { maxLength: 12 })
  .map((all) => all.join(''));

/** Parses each event without using the previous ones. */
function oneByOne(bytes: Buffer): { events: number; watch: CompletionTracker; stopped: string | undefined } {
  const watch = new CompletionTracker(1);
  let events = 0;
  for (const { data } of new SseScanner().push(bytes)) {
    if (data.trim() === '[DONE]') return { events, watch, stopped: 'done' };
    const parsed = parseCompletionChunk(data);
    if (!parsed) return { events, watch, stopped: 'odd' };
    watch.add(parsed);
    events++;
  }
  return { events, watch, stopped: undefined };
}

verifies(
  'http.chat/splice-alike',
  'events that are passed over for their likeness are found the same as if each was looked at, wherever the bytes are cut',
  () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat()), fc.boolean(), fc.boolean(), (written, places, atLines, stripUsage) => {
        const bytes = Buffer.from(written);
        const lines = atLines ? [...bytes.entries()].flatMap(([at, byte]) => (byte === 0x0a ? at + 1 : [])) : [];
        const cuts = [...new Set([...lines, ...places.map((place) => place % (bytes.length + 1))])].sort((a, b) => a - b);
        const passage = new CompletionFilter({ wire: 'chat', choices: 1, stripUsage, thinksFirst: false });
        const passed = [0, ...cuts].flatMap((cut, index) => passage.push(bytes.subarray(cut, cuts[index])));
        const expected = oneByOne(bytes);
        expect({ events: passage.events, chars: passage.watch.chars, usage: passage.watch.usage, stopped: passage.stopped?.how }).toEqual({
          events: expected.events,
          chars: expected.watch.chars,
          usage: expected.watch.usage,
          stopped: expected.stopped,
        });
        const all = Buffer.concat(passed);
        if (!stripUsage) expect(bytes.subarray(0, all.length).equals(all)).toBe(true);
        expect(oneByOne(all)).toMatchObject(stripUsage ? { stopped: undefined } : { events: expected.events, stopped: undefined });
      }),
      { numRuns: process.env['PERCH_LONG'] ? 20_000 : 1_000 },
    );
  },
);

verifies('http.chat/thoughts-in-text', 'queued data keeps its bytes, whatever arrives meanwhile', () => {
  const passage = new CompletionFilter({ wire: 'chat', choices: 1, stripUsage: true, thinksFirst: false });
  const [first, held, rest] = [piece({ content: 'a' }), piece({ content: 'b <' }).replace('data: ', 'data:'), piece({ content: 'b>' })];
  const push = (text: string): string => Buffer.concat(passage.push(Buffer.from(text))).toString();
  expect([push(first), push(held), push('data: null\n\n'), push(rest)]).toEqual([first, '', '', held + rest]);
  const marked = [piece({ content: '</th' }), 'data: null\n\n', piece({ content: 'ink>c' })].map(push).join('');
  expect(marked).toContain('"content":"c"');
  expect(marked).not.toContain('</th');
});

verifies('http.chat/thoughts-in-text', 'marks are found behind events that are passed over, however they are escaped', () => {
  for (const mark of ['</think>', '<\\/think>', '\\u003c/think\\u003e', '\\u003C/think\\u003E']) {
    const passage = new CompletionFilter({ wire: 'chat', choices: 1, stripUsage: false, thinksFirst: false });
    const plain = Array.from({ length: 5 }, (_, index) => piece({ content: `w${index} <p> ` })).join('');
    const marked = piece({ content: 'MARK' }).replace('MARK', `c${mark}d`);
    const passed = Buffer.concat(passage.push(Buffer.from(plain + marked + plain))).toString();
    expect(passed).toBe(`${plain}${piece({ content: 'cd' })}${plain}`);
    expect(passage.isUnopened).toBe(true);
  }
});

it('learns nothing from an event whose counted strings are others than what the model has written', () => {
  const latin = (event: string): string => Buffer.from(event).toString('latin1');
  const lying = `data: ${JSON.stringify({ content: 'abc', choices: [{ delta: { content: 'a' } }] })}\n\n`;
  expect(EventPattern.fromEvent(latin(lying), 1)).toBeUndefined();
  expect(EventPattern.fromEvent(latin(piece({ content: 'a' })), 1)).toBeDefined();
  expect(EventPattern.fromEvent(latin(piece({ tool_calls: [] })), 0)).toBeUndefined();
});
