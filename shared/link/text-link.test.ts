import { describe, expect, it } from 'vitest';
import { MuxPair } from './mux-testing.ts';
import { STREAM_WINDOW_BYTES } from './stream.ts';
import { textLink } from './text-link.ts';
import type { Link } from './link.ts';

interface LinkLog {
  messages: string[];
  closes: [number, string][];
}

function recordLink(link: Link<string>): LinkLog {
  const log: LinkLog = { messages: [], closes: [] };
  link.receive({ message: (text) => log.messages.push(text), close: (code, reason) => log.closes.push([code, reason]) });
  return log;
}

function createLinkedPair(maxBytes = 1024 * 1024) {
  const pair = new MuxPair();
  const { near, far } = pair.open();
  const link = textLink(far, () => maxBytes);
  return { pair, near, far, nearLink: textLink(near, () => maxBytes), link };
}

describe('textLink', () => {
  it('puts together what came in chunks, also where a character is split', () => {
    const { pair, near, link } = createLinkedPair();
    const log = recordLink(link);
    const text = '😀ß'.repeat(50_000);
    near.send(text);
    const bytes = new TextEncoder().encode('a😀b');
    for (const byte of bytes) near.sendText(Uint8Array.of(byte), false);
    near.sendText(new Uint8Array(0));
    near.send('');
    near.send('\uFEFF{}');
    pair.settle();
    expect(log.messages).toEqual([text, 'a😀b', '', '\uFEFF{}']);
  });

  it('talks both ways and closes in order, each side told once', () => {
    const { pair, nearLink, link } = createLinkedPair();
    const [atNear, atFar] = [recordLink(nearLink), recordLink(link)];
    nearLink.send('one');
    link.send('two');
    link.close(1008, 'enough');
    link.close(1000, 'again');
    link.send('late');
    nearLink.send('late');
    pair.settle();
    expect(atNear).toEqual({ messages: ['two'], closes: [[1008, 'enough']] });
    expect(atFar).toEqual({ messages: [], closes: [[1008, 'enough']] });
    expect([pair.dialer.streams, pair.acceptor.streams]).toEqual([0, 0]);
  });

  it.each<[string, (near: ReturnType<typeof createLinkedPair>['near']) => void, number, string]>([
    ['a message over the limit', (near) => near.send('x'.repeat(1001)), 1009, '1000'],
    [
      'parts that go over the limit together',
      (near) => [600, 401].forEach((size) => near.send('x'.repeat(size), { fin: false })),
      1009,
      '1000',
    ],
    ['binary', (near) => near.send(Uint8Array.of(1)), 1008, 'binary'],
    ['the first part of binary', (near) => near.send(Uint8Array.of(1), { fin: false }), 1008, 'binary'],
    ['broken UTF-8', (near) => near.sendText(Uint8Array.of(0xc3, 0x28)), 1007, 'UTF-8'],
    ['a character cut short', (near) => near.sendText(Uint8Array.of(0xf0, 0x9f)), 1007, 'UTF-8'],
  ])('ends with a reason at %s', (_name, offend, code, reason) => {
    const { pair, near, nearLink, link } = createLinkedPair(1000);
    const [atNear, atFar] = [recordLink(nearLink), recordLink(link)];
    near.send('x'.repeat(1000));
    offend(near);
    near.send('after');
    pair.settle();
    expect(atFar.messages).toEqual(['x'.repeat(1000)]);
    expect(atFar.closes).toEqual([[code, expect.stringContaining(reason)]]);
    expect(atNear.closes).toEqual(atFar.closes);
    expect([pair.acceptorLink.closeEvent, pair.acceptor.streams]).toEqual([undefined, 0]);
  });

  it('is told when the stream is cut, also before it listened', () => {
    const { pair, near, link } = createLinkedPair();
    near.reset(1012, 'restarting');
    pair.settle();
    expect(recordLink(link).closes).toEqual([[1012, 'restarting']]);
  });

  it('cuts instead of waiting for ever where a slow reader is closed', () => {
    const { pair, near, link } = createLinkedPair();
    const closes: number[] = [];
    near.receive({ data: () => {}, end: () => {}, reset: (code) => closes.push(code) });
    const log = recordLink(link);
    link.send('x'.repeat(2 * STREAM_WINDOW_BYTES + 1));
    pair.settle();
    expect(link.buffered).toBe(STREAM_WINDOW_BYTES + 1);
    link.close(1008, 'slow consumer');
    pair.settle();
    expect([closes, log.closes, link.buffered]).toEqual([[1008], [[1008, 'slow consumer']], 0]);
  });
});
