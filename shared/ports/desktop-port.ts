import { defineMethod } from '../rpc/contract.ts';
import { desktopContracts } from '../rpc/methods/desktop-contracts.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

/** The screen of the bridge's machine. */
export const desktopPort = definePort({
  kind: 'desktop',
  featureName: 'Capturing the desktop',
  calls: {
    ...desktopContracts,
    'desktop.check': defineMethod({
      params: z.object({}),
      result: z.object({ problem: z.string().nullable() }),
      docs: 'Returns why the desktop can’t be captured, or null if it can.',
      policy: { scope: 'read' },
    }),
  },
  events: {},
});
