import { RUN_EVENTS } from '../chat-events.ts';
import { defineMethod } from '../contract.ts';
import { z } from '../zod.ts';

/** Events for the main session, and its heartbeat. */
export const systemContracts = {
  'system.event': defineMethod({
    params: z.strictObject({
      text: z.string().min(1).max(10_000),
      /** `now`: the main session answers it immediately. Otherwise it is added to the session's next run or the next heartbeat. */
      mode: z.enum(['now', 'next-heartbeat']).default('next-heartbeat'),
      idempotencyKey: z.string().min(1).max(256).optional(),
    }),
    result: z.object({ ok: z.literal(true), eventType: z.literal('system'), mode: z.enum(['now', 'next-heartbeat']) }),
    emits: RUN_EVENTS,
    docs: 'Sends an event to the main session. The response is returned once it is stored. With `mode: "now"`, a run starts that answers it.',
    policy: { scope: 'write', idempotent: true, metered: true },
  }),
  'system.heartbeat.last': defineMethod({
    params: z.strictObject({}),
    result: z.object({ enabled: z.boolean(), lastHeartbeatAt: z.number().nullable() }),
    docs: 'Returns whether the heartbeat is on, and the time of the last one in milliseconds since the Unix epoch.',
    policy: { scope: 'read' },
  }),
};
