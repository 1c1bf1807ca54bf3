import { defineMethod } from '../rpc/contract.ts';
import { browserContracts, download } from '../rpc/methods/browser-contracts.ts';
import { browserViewContracts, browserFrame, imageOptions } from '../rpc/methods/browser-view-contracts.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

/** The driven browser: the bridge does what the methods say, call by call. */
export const browserPort = definePort({
  kind: 'browser',
  featureName: 'Browser control',
  calls: {
    ...browserContracts,
    'browser.input': browserViewContracts['browser.input'],
    'browser.view': defineMethod({
      params: z.object({ viewId: z.string(), profile: z.string(), tabId: z.string().optional(), ...imageOptions }),
      result: z.object({ reason: z.string() }),
      docs: 'Streams a tab, or the current one, until the call ends. `reason` says what ended it.',
      policy: { scope: 'read' },
    }),
    'browser.viewed': defineMethod({
      params: z.object({ viewId: z.string(), frame: z.number().int() }),
      result: z.object({}),
      docs: 'Confirms that the viewer has the frame, so that the next one is sent.',
      policy: { scope: 'read' },
    }),
    'browser.allow': defineMethod({
      params: z.object({ places: z.array(z.string()), cdpEndpoint: z.string().nullable().default(null) }),
      result: z.object({}),
      docs: 'Sets the private addresses (`host` or `host:port`) that the browser can open; all others are refused. `cdpEndpoint`: the remote browser to control; browsers of other endpoints, or of this computer, are released.',
      policy: { scope: 'admin' },
    }),
  },
  events: {
    /** A view has started; null if there is no tab yet. */
    'browser.viewing': z.object({ viewId: z.string(), tabId: z.string().nullable() }),
    'browser.frame': z.object({ viewId: z.string(), ...browserFrame }),
    /** A page has downloaded a file. */
    'browser.downloaded': z.object({ viewId: z.string(), download }),
  },
});
