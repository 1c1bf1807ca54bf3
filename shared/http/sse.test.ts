import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SseEvent, SseScanner, writeSse } from './sse.ts';
import { SseTooLarge } from './sse-errors.ts';

const encoder = new TextEncoder();
const RUNS = process.env.PERCH_LONG ? 10_000 : 500;

function scan(bytes: Uint8Array, cuts: number[] = []): SseEvent[] {
  const scanner = new SseScanner();
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const out: SseEvent[] = [];
  let from = 0;
  for (const to of [...at, bytes.length]) {
    out.push(...scanner.push(bytes.subarray(from, to)));
    from = to;
  }
  return [...out, ...scanner.end()];
}

const scanText = (value: string): SseEvent[] => scan(encoder.encode(value));

describe('SseScanner', () => {
  it('reads fields, comments, several data lines and unknown fields as the standard says', () => {
    expect(scanText(': hi\n\nevent: add\nid: 7\ndata: one\ndata:two\ndata\nretry: 5\nfoo: bar\n\ndata:  x\n\n')).toEqual([
      { event: 'add', id: '7', data: 'one\ntwo\n' },
      { data: ' x' },
    ]);
  });

  it('takes LF, CR and CRLF, also mixed', () => {
    expect(scanText('data: a\r\n\r\ndata: b\r\rdata: c\n\r\n')).toEqual([{ data: 'a' }, { data: 'b' }, { data: 'c' }]);
  });

  it('drops a byte order mark at the start and nowhere else', () => {
    expect(scanText('\uFEFFdata: a\n\ndata: \uFEFFb\n\n')).toEqual([{ data: 'a' }, { data: '\uFEFFb' }]);
  });

  it('gives the last event although its empty line was never sent', () => {
    expect(scanText('data: a\n\ndata: [DONE]')).toEqual([{ data: 'a' }, { data: '[DONE]' }]);
  });

  it('forgets an event without data', () => {
    expect(scanText('event: ping\nid: 1\n\ndata: a\n\n')).toEqual([{ data: 'a' }]);
  });

  it('stops at the limit, whether the event is one line, many, or has no line end at all', () => {
    const long = 'x'.repeat(600);
    expect(() => new SseScanner(1000).push(encoder.encode(`data: ${long}${long}`))).toThrow(SseTooLarge);
    expect(() => new SseScanner(1000).push(encoder.encode(`data: ${long}${long}\n`))).toThrow(SseTooLarge);
    expect(() => new SseScanner(1000).push(encoder.encode(`data: ${long}\ndata: ${long}\n`))).toThrow(SseTooLarge);
    const scanner = new SseScanner(1000);
    expect(() => Array.from(long + long, (char) => scanner.push(encoder.encode(char)))).toThrow(SseTooLarge);
  });

  it('takes any number of events and comments below the limit', () => {
    const scanner = new SseScanner(1000);
    let events = 0;
    for (let i = 0; i < 50; i++) events += scanner.push(encoder.encode(`: ${'k'.repeat(300)}\ndata: ${'x'.repeat(600)}\n\n`)).length;
    for (let i = 0; i < 50; i++) events += scanner.push(encoder.encode(`: ${'k'.repeat(300)}\n`)).length;
    expect(events).toBe(50);
  });

  it('gives the same events however the bytes are split', () => {
    const line = fc.oneof(
      fc.constantFrom('', '', 'data: {"a":"ü"}', 'data:x', 'data', 'event: e', 'id: 1', ': c', 'data: [DONE]', 'data: 漢字 😀'),
      fc.string({ unit: 'grapheme' }),
    );
    const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r', '\r\n')), { maxLength: 30 });
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 40 }), (lines, cuts) => {
        const bytes = encoder.encode(lines.map((pair) => pair.join('')).join(''));
        const events = scan(bytes);
        expect(scan(bytes, cuts)).toEqual(events);
        expect(
          scan(
            bytes,
            Array.from(bytes, (_, i) => i),
          ),
        ).toEqual(events);
      }),
      { numRuns: RUNS },
    );
  });

  it('knows where each event ends: the bytes up to there, and those behind, are the same events', () => {
    const line = fc.constantFrom('', '', 'data: {"a":"ü"}', 'data:x', 'event: e', ': c', 'data: 漢字');
    const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r', '\r\n')), { maxLength: 30 });
    fc.assert(
      fc.property(stream, (lines) => {
        const bytes = encoder.encode(lines.map((pair) => pair.join('')).join(''));
        const scanner = new SseScanner();
        const events = scanner.push(bytes);
        expect(scanner.ends).toHaveLength(events.length);
        for (const [index, end] of scanner.ends.entries()) {
          expect(new SseScanner().push(bytes.subarray(0, end))).toEqual(events.slice(0, index + 1));
          expect(new SseScanner().push(bytes.subarray(end))).toEqual(events.slice(index + 1));
        }
        expect(scanner.boundary).toBeGreaterThanOrEqual(scanner.ends.at(-1) ?? 0);
        expect(new SseScanner().push(bytes.subarray(scanner.boundary))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('agrees with an independent parser', () => {
    const line = fc.constantFrom('', '', 'data: a', 'data:b', 'event: e', 'id: 1', ': c', 'data: 漢😀', 'foo: x', 'data');
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), fc.constantFrom('\n', '\r\n'), (lines, end) => {
        const source = lines.map((each) => each + end).join('') + end;
        const expected: SseEvent[] = [];
        createParser({ onEvent: (event) => expected.push({ ...event }) }).feed(source);
        // An `id` without data stays with the connection in the standard; here it goes with its own event, as nothing reconnects.
        const plain = (events: SseEvent[]) => events.map(({ event, data }) => ({ event, data }));
        expect(plain(scan(encoder.encode(source)))).toEqual(plain(expected));
      }),
      { numRuns: RUNS },
    );
  });

  it('reads what writeSse writes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (data) => {
        expect(scanText(writeSse(data))).toEqual([{ data: data.replaceAll(/\r\n|\r/g, '\n') }]);
      }),
      { numRuns: RUNS },
    );
  });
});
