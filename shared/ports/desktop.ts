import { call } from '../rpc/contract.ts';
import { desktop } from '../rpc/methods/desktop.ts';
import { z } from '../rpc/zod.ts';
import { port } from './port.ts';

/** The screen of the bridge's machine. */
export const desktopPort = port({
  kind: 'desktop',
  what: 'Capturing the desktop',
  calls: {
    ...desktop,
    'desktop.check': call({
      params: z.object({}),
      result: z.object({ problem: z.string().nullable() }),
      docs: 'Returns why the desktop can’t be captured, or null if it can.',
      policy: { scope: 'read' },
    }),
  },
  events: {},
});
