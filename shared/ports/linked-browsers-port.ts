import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

export const linkedBrowser = z.object({
  /** The ID of its pages' credential. */
  id: z.string(),
  /** The name it reported when it was linked, such as `Chrome 156 on Linux`, with a number if the name was taken; null if an older build linked it. */
  name: z.string().nullable(),
  /** Milliseconds since the Unix epoch. */
  linkedAt: z.number(),
  /** Whether one of its pages or its worker is connected. */
  connected: z.boolean(),
});
/** A browser linked to the bridge. It has all permissions. */
export type LinkedBrowser = z.infer<typeof linkedBrowser>;

/** The browsers linked to the bridge. Only the bridge knows their credentials. */
export const linkedBrowsersPort = definePort({
  kind: 'linked-browsers',
  featureName: 'Managing linked browsers',
  calls: {
    'linked-browsers.list': defineMethod({
      params: z.object({}),
      result: z.object({ browsers: z.array(linkedBrowser) }),
      docs: 'Lists all linked browsers, oldest first.',
      policy: { scope: 'read' },
    }),
    'linked-browsers.revoke': defineMethod({
      params: z.object({ id: z.string().max(100) }),
      result: z.object({ /** False if the browser does not exist. */ revoked: z.boolean() }),
      docs: 'Revokes both credentials of a browser, on disk first, and closes the connections of its pages. Its worker is disconnected a second later.',
      policy: { scope: 'admin' },
    }),
  },
  events: {},
});
