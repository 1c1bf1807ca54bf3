import { call } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { port } from './port.ts';

export const linkedBrowser = z.object({
  /** Of the credential that its pages have. */
  id: z.string(),
  /** What it called itself when it was linked, as `Chrome 156 on Linux`, with a number where another had that name; null where an older build linked it. */
  name: z.string().nullable(),
  /** Milliseconds since 1970. */
  linkedAt: z.number(),
  /** A page of it, or its worker, is connected now. */
  connected: z.boolean(),
});
/** A browser in which a link to the bridge was opened: it may do everything. */
export type LinkedBrowser = z.infer<typeof linkedBrowser>;

/** The browsers that the bridge has linked (design.md, "Two origins would be two databases"): only it knows their credentials. */
export const linkedBrowsersPort = port({
  kind: 'linked-browsers',
  what: 'The list of linked browsers',
  calls: {
    'linked-browsers.list': call({
      params: z.object({}),
      result: z.object({ browsers: z.array(linkedBrowser) }),
      docs: 'All of them, oldest first.',
      policy: { scope: 'read' },
    }),
    'linked-browsers.revoke': call({
      params: z.object({ id: z.string().max(100) }),
      result: z.object({ /** False where there is no such browser. */ revoked: z.boolean() }),
      docs: 'Makes both credentials of a browser void, on disk first, and closes what its pages have open; its worker is cut off a second later.',
      policy: { scope: 'admin' },
    }),
  },
  events: {},
});
