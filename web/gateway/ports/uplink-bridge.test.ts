import { describe, expect, it } from 'vitest';
import { definePort } from '#shared/ports/port.ts';
import { defineMethod } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import { FakeBridge, createCapability } from '../../../tests/support/fake-bridge.ts';

const countingPort = definePort({
  kind: 'counting',
  featureName: 'Counting',
  calls: {
    count: defineMethod({
      params: z.object({ to: z.number() }),
      result: z.object({ sum: z.number() }),
      docs: 'Counts.',
      policy: { scope: 'read' },
    }),
  },
  events: { at: z.object({ number: z.number() }) },
});

describe('a port of the bridge', () => {
  it('answers, and tells on the way', async () => {
    const bridge = new FakeBridge(
      createCapability(countingPort, {
        async count({ to }, { send }) {
          for (let number = 1; number <= to; number++) send('at', { number });
          return { sum: (to * (to + 1)) / 2 };
        },
      }),
    );
    const received: number[] = [];
    expect(bridge.provides(countingPort)).toBe(true);
    expect(await bridge.call(countingPort, 'count', { to: 3 }, { on: { at: ({ number }) => received.push(number) } })).toEqual({ sum: 6 });
    expect(received).toEqual([1, 2, 3]);
    await expect(bridge.call(countingPort, 'count', { to: 'three' } as never)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });

  it('passes on what it is refused with, and hides what went wrong', async () => {
    let error: Error = new RpcError('NOT_FOUND', 'There is no such number');
    const bridge = new FakeBridge(createCapability(countingPort, { count: () => Promise.reject(error) }));
    await expect(bridge.call(countingPort, 'count', { to: 1 })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'There is no such number',
    });
    error = new Error('a secret');
    await expect(bridge.call(countingPort, 'count', { to: 1 })).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: 'count failed.' });
    expect(bridge.faults.join()).toContain('a secret');
  });

  it('is ended at the bridge by the signal, and ends with the bridge', async () => {
    const begun = Promise.withResolvers<AbortSignal>();
    const bridge = new FakeBridge(
      createCapability(countingPort, {
        count: (_params, { signal }) => {
          begun.resolve(signal);
          return new Promise(() => {});
        },
      }),
    );
    const stop = new AbortController();
    const answer = bridge.call(countingPort, 'count', { to: 1 }, { signal: stop.signal });
    const stream = await begun.promise;
    stop.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    await new Promise((resolve) => stream.addEventListener('abort', resolve));
    const cut = bridge.call(countingPort, 'count', { to: 1 });
    bridge.detach();
    await expect(cut).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    await expect(bridge.call(countingPort, 'count', { to: 1 })).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringContaining('Counting needs the bridge'),
    });
    bridge.attach();
    expect(bridge.provides(countingPort)).toBe(true);
  });
});
