import { expect } from 'vitest';
import { createPortClient } from '#shared/link/port-calls.ts';
import { MuxPair } from '#shared/link/mux-testing.ts';
import { textLink } from '#shared/link/text-link.ts';
import { definePort } from '#shared/ports/port.ts';
import { defineMethod } from '#shared/rpc/contract.ts';
import { z } from '#shared/rpc/zod.ts';
import { verifies } from '../../tests/requirements.ts';
import { servePort } from './serve-port.ts';

const counting = definePort({
  kind: 'counting',
  featureName: 'Counting',
  calls: { count: defineMethod({ params: z.object({}), result: z.object({}), docs: 'Counts.', policy: { scope: 'read' } }) },
  events: { counted: z.number() },
});

verifies('models.download/call', 'a call that was there before the port tells its caller at once', async () => {
  const pair = new MuxPair();
  const { near, far } = pair.open();
  const counted: number[] = [];
  const calls = createPortClient(
    textLink(near, () => 1000),
    counting.calls,
    counting.events,
  );
  calls.on('counted', (number) => counted.push(number));
  const answered = calls.call('count', {});
  pair.settle();
  const faults: string[] = [];
  servePort(
    far,
    counting,
    {
      count: (_params, { send }) => {
        send('counted', 1);
        return Promise.resolve({});
      },
    },
    (line) => faults.push(line),
  );
  const turns = setInterval(() => pair.settle(), 1);
  expect(await answered).toEqual({});
  clearInterval(turns);
  expect([counted, faults]).toEqual([[1], []]);
});
