import { call } from '../rpc/contract.ts';
import { browser } from '../rpc/methods/browser.ts';
import { browserView, frame, viewSize } from '../rpc/methods/browser-view.ts';
import { z } from '../rpc/zod.ts';
import { port } from './port.ts';

/** The driven browser: the bridge does what the methods say, call by call. */
export const browserPort = port({
  kind: 'browser',
  what: 'The driven browser',
  calls: {
    ...browser,
    'browser.input': browserView['browser.input'],
    'browser.view': call({
      params: z.object({ viewId: z.string(), profile: z.string(), tabId: z.string().optional(), ...viewSize }),
      result: z.object({ reason: z.string() }),
      docs: 'Shows a tab, or whichever is the current one, for as long as the call lasts; `reason` says what ended it.',
      policy: { scope: 'read' },
    }),
    'browser.viewed': call({
      params: z.object({ viewId: z.string(), frame: z.number().int() }),
      result: z.object({}),
      docs: 'The viewer has the frame: the next may come.',
      policy: { scope: 'read' },
    }),
    'browser.allow': call({
      params: z.object({ places: z.array(z.string()), cdpEndpoint: z.string().nullable().default(null) }),
      result: z.object({}),
      docs: 'Private places, each `host` or `host:port`, that the person lets the browser go to; all others are refused. `cdpEndpoint`: the browser elsewhere that is driven; browsers of another one, or of this machine, are let go.',
      policy: { scope: 'admin' },
    }),
  },
  events: {
    /** A view has begun; null where there is no tab as yet. */
    'browser.viewing': z.object({ viewId: z.string(), tabId: z.string().nullable() }),
    'browser.frame': z.object({ viewId: z.string(), ...frame }),
  },
});
