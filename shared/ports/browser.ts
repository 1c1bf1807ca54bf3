import { call } from '../rpc/contract.ts';
import { browser } from '../rpc/methods/browser.ts';
import { z } from '../rpc/zod.ts';
import { port } from './port.ts';

/** The driven browser: the bridge does what the methods say, call by call. */
export const browserPort = port({
  kind: 'browser',
  what: 'The driven browser',
  calls: {
    ...browser,
    'browser.allow': call({
      params: z.object({ places: z.array(z.string()) }),
      result: z.object({}),
      docs: 'Private places, each `host` or `host:port`, that the person lets the browser go to; all others are refused.',
      policy: { scope: 'admin' },
    }),
  },
  events: {},
});
