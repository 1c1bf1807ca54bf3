import { describe, expect, it } from 'vitest';
import { MuxPair } from './testing.ts';
import { STREAM_WINDOW } from './stream.ts';
import { textLink } from './text-link.ts';
import type { Link } from './link.ts';

interface Told {
  messages: string[];
  closes: [number, string][];
}

function hear(link: Link<string>): Told {
  const told: Told = { messages: [], closes: [] };
  link.receive({ message: (text) => told.messages.push(text), close: (code, reason) => told.closes.push([code, reason]) });
  return told;
}

function linked(maxBytes = 1024 * 1024) {
  const pair = new MuxPair();
  const { near, far } = pair.open();
  const link = textLink(far, () => maxBytes);
  return { pair, near, far, nearLink: textLink(near, () => maxBytes), link };
}

describe('textLink', () => {
  it('puts together what came in chunks, also where a character is split', () => {
    const { pair, near, link } = linked();
    const told = hear(link);
    const text = '😀ß'.repeat(50_000);
    near.send(text);
    const bytes = new TextEncoder().encode('a😀b');
    for (const byte of bytes) near.sendText(Uint8Array.of(byte), false);
    near.sendText(new Uint8Array(0));
    near.send('');
    near.send('\uFEFF{}');
    pair.settle();
    expect(told.messages).toEqual([text, 'a😀b', '', '\uFEFF{}']);
  });

  it('talks both ways and closes in order, each side told once', () => {
    const { pair, nearLink, link } = linked();
    const [atNear, atFar] = [hear(nearLink), hear(link)];
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

  it.each<[string, (near: ReturnType<typeof linked>['near']) => void, number, string]>([
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
    const { pair, near, nearLink, link } = linked(1000);
    const [atNear, atFar] = [hear(nearLink), hear(link)];
    near.send('x'.repeat(1000));
    offend(near);
    near.send('after');
    pair.settle();
    expect(atFar.messages).toEqual(['x'.repeat(1000)]);
    expect(atFar.closes).toEqual([[code, expect.stringContaining(reason)]]);
    expect(atNear.closes).toEqual(atFar.closes);
    expect([pair.acceptorLink.ended, pair.acceptor.streams]).toEqual([undefined, 0]);
  });

  it('is told when the stream is cut, also before it listened', () => {
    const { pair, near, link } = linked();
    near.reset(1012, 'restarting');
    pair.settle();
    expect(hear(link).closes).toEqual([[1012, 'restarting']]);
  });

  it('cuts instead of waiting for ever where a slow reader is closed', () => {
    const { pair, near, link } = linked();
    const closes: number[] = [];
    near.receive({ data: () => {}, end: () => {}, reset: (code) => closes.push(code) });
    const told = hear(link);
    link.send('x'.repeat(2 * STREAM_WINDOW + 1));
    pair.settle();
    expect(link.buffered).toBe(STREAM_WINDOW + 1);
    link.close(1008, 'slow consumer');
    pair.settle();
    expect([closes, told.closes, link.buffered]).toEqual([[1008], [[1008, 'slow consumer']], 0]);
  });
});
