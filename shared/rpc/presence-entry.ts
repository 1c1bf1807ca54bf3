import { z } from './zod.ts';

export const presenceEntry = z.object({
  /** `gateway`, `bridge`, `journal`, `host:…`, `client:…` or `provider:…`. */
  component: z.string(),
  state: z.enum(['online', 'offline', 'idle', 'away']),
  /** When the state last changed, in milliseconds since the Unix epoch. For clients: when they last sent a request. */
  updated: z.number(),
});
/** A component of the gateway or a connected client. */
export type PresenceEntry = z.infer<typeof presenceEntry>;
