import { z } from '#shared/rpc/zod.ts';

const movedClient = z.object({
  connId: z.string().max(100),
  seq: z.number().int().positive(),
  follows: z.array(z.string().max(600)).max(1000),
});
/** What one host tells the next of a client that is taken there: its connection's id, the number of its last event, the sessions that it follows. */
export type MovedClient = z.infer<typeof movedClient>;

/** Undefined where nothing is said, or it cannot be understood. */
export function readMoved(text: string | undefined): MovedClient | undefined {
  try {
    return text === undefined ? undefined : movedClient.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
