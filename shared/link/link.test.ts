import { describe, expect, it } from 'vitest';
import { type Link, memoryPair, portLink } from './link.ts';

const kinds: Record<string, () => [Link<string>, Link<string>]> = {
  memory: () => memoryPair<string>(),
  port: () => {
    const { port1, port2 } = new MessageChannel();
    return [portLink<string>(port1), portLink<string>(port2)];
  },
};

interface LinkLog {
  messages: string[];
  closed: Promise<[number, string]>;
}

function recordLink(link: Link<string>, onmessage?: (message: string) => void): LinkLog {
  const messages: string[] = [];
  const closed = Promise.withResolvers<[number, string]>();
  let closes = 0;
  link.receive({
    message(message) {
      messages.push(message);
      onmessage?.(message);
    },
    close(code, reason) {
      if (++closes > 1) throw new Error('closed twice');
      closed.resolve([code, reason]);
    },
  });
  return { messages, closed: closed.promise };
}

describe.each(Object.entries(kinds))('a link over %s', (_kind, make) => {
  it('brings messages in order, later, and then the close, to both ends once', async () => {
    const [a, b] = make();
    const [atA, atB] = [recordLink(a), recordLink(b)];
    for (let i = 0; i < 100; i++) a.send(String(i));
    expect(atB.messages).toEqual([]);
    a.close(4000, 'done');
    a.close(1000, 'again');
    a.send('late');
    expect(await atB.closed).toEqual([4000, 'done']);
    expect(await atA.closed).toEqual([4000, 'done']);
    expect(atB.messages).toEqual(Array.from({ length: 100 }, (_, i) => String(i)));
    b.send('late');
    b.close();
    expect([a.buffered, b.buffered]).toEqual([0, 0]);
  });

  it('buffers messages until someone listens', async () => {
    const [a, b] = make();
    a.send('early');
    a.close(4001, 'gone');
    await new Promise((resolve) => setImmediate(resolve));
    const log = recordLink(b);
    expect(await log.closed).toEqual([4001, 'gone']);
    expect(log.messages).toEqual(['early']);
  });

  it('answers from within a message, and hears nothing after closing there', async () => {
    const [a, b] = make();
    const atA = recordLink(a);
    const atB = recordLink(b, (message) => {
      b.send(`re: ${message}`);
      if (message === '2') b.close(4002, 'enough');
    });
    for (const message of ['1', '2', '3']) a.send(message);
    expect(await atA.closed).toEqual([4002, 'enough']);
    expect(await atB.closed).toEqual([4002, 'enough']);
    expect([atA.messages, atB.messages]).toEqual([
      ['re: 1', 're: 2'],
      ['1', '2'],
    ]);
  });
});

describe('portLink', () => {
  it('notifies a listener that is added after the link closed', async () => {
    const { port1, port2 } = new MessageChannel();
    const link = portLink<string>(port1);
    link.close(4003, 'early');
    expect(await recordLink(link).closed).toEqual([4003, 'early']);
    port2.close();
  });
});
