import { z } from '#shared/rpc/zod.ts';

const connectionHandoff = z.object({
  connId: z.string().max(100),
  seq: z.number().int().positive(),
  follows: z.array(z.string().max(600)).max(1000),
});
/**
 * State of a client that moves from one host to the next: its connection's id, the number of its last event, and the sessions that it
 * follows.
 */
export type ConnectionHandoff = z.infer<typeof connectionHandoff>;

/** Undefined if there is none, or it cannot be parsed. */
export function parseConnectionHandoff(text: string | undefined): ConnectionHandoff | undefined {
  try {
    return text === undefined ? undefined : connectionHandoff.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
