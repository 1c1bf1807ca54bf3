import { call } from '../rpc/contract.ts';
import { desktop } from '../rpc/methods/desktop.ts';
import { z } from '../rpc/zod.ts';
import { port } from './port.ts';

/** The screen of the bridge's machine. */
export const desktopPort = port({
  kind: 'desktop',
  what: 'A picture of the screen',
  calls: {
    ...desktop,
    'desktop.check': call({
      params: z.object({}),
      result: z.object({ problem: z.string().nullable() }),
      docs: 'Why no picture can be taken; null where one can.',
      policy: { scope: 'read' },
    }),
  },
  events: {},
});
