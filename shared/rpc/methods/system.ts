import { RUN_EVENTS } from '../chat-events.ts';
import { call } from '../contract.ts';
import { z } from '../zod.ts';

/** What the main session is told of, and when it last looked (interface document 1, section 4.1; decisions, "Devices, logs, system …"). */
export const system = {
  'system.event': call({
    params: z.strictObject({
      text: z.string().min(1).max(10_000),
      /** `now`: the main session answers it at once; else it joins the session's next run, or the next heartbeat. */
      mode: z.enum(['now', 'next-heartbeat']).default('next-heartbeat'),
      idempotencyKey: z.string().min(1).max(256).optional(),
    }),
    result: z.object({ ok: z.literal(true), eventType: z.literal('system'), mode: z.enum(['now', 'next-heartbeat']) }),
    emits: RUN_EVENTS,
    docs: 'Tells the main session of something. Answered once it is stored; with `mode` `now` a run begins in which it is answered.',
    policy: { scope: 'write', idempotent: true, metered: true },
  }),
  'system.heartbeat.last': call({
    params: z.strictObject({}),
    result: z.object({ enabled: z.boolean(), lastHeartbeatAt: z.number().nullable() }),
    docs: 'Whether the heartbeat is on, and when it last beat (milliseconds since 1970).',
    policy: { scope: 'read' },
  }),
};
