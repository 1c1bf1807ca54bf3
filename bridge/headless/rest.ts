import type { Mux } from '#shared/link/mux.ts';
import { textLink } from '#shared/link/text-link.ts';
import { LEVELS } from '#shared/rpc/contract.ts';
import { PROTOCOL } from '#shared/rpc/limits.ts';
import { cron } from '#shared/rpc/methods/cron.ts';
import { channels } from '#shared/rpc/methods/channels.ts';
import { chat } from '#shared/rpc/methods/chat.ts';
import { sessionList } from '#shared/rpc/methods/session-list.ts';
import { z } from '#shared/rpc/zod.ts';

/** Work that a host would leave undone. */
export interface Rest {
  /** Something is in progress or must run all the time: channels, the heartbeat. */
  busy: boolean;
  /** Time of the next due job, in milliseconds since the Unix epoch. */
  dueAt: number | null;
}

const ANSWER_MS = 10_000;
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** Number of recently used sessions to check for a running reply. */
const SESSIONS = 20;

const response = z.object({ type: z.literal('res'), id: z.string(), ok: z.boolean(), payload: z.unknown() });
const settings = z.object({ value: z.looseObject({ heartbeat: z.looseObject({ enabled: z.boolean().default(false) }).optional() }) });
/** The app's own channel. */
const OWN_CHANNEL = 'webchat';

/** Asks a host, as a client, whether it can be stopped and for how long. Rejects if it does not answer. */
export async function restOf(mux: Mux): Promise<Rest> {
  const waiting = new Map<string, PromiseWithResolvers<unknown>>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const stream = mux.open({ kind: 'rpc', principal: 'owner', scopes: [...LEVELS] });
  const link = textLink(stream, () => MAX_ANSWER_BYTES);
  link.receive({
    message(text) {
      const { data } = response.safeParse(JSON.parse(text));
      const asked = data && waiting.get(data.id);
      if (!data || !asked) return;
      if (data.ok) asked.resolve(data.payload);
      else asked.reject(new Error('the host rejected the request'));
    },
    close: (_code, reason) => failed.reject(new Error(reason || 'the host disconnected')),
  });
  const timer = setTimeout(() => failed.reject(new Error('the host didn’t respond')), ANSWER_MS);
  let calls = 0;
  const ask = async <T>(method: string, params: object, result: z.ZodType<T>): Promise<T> => {
    const id = String(++calls);
    const asked = Promise.withResolvers<unknown>();
    waiting.set(id, asked);
    link.send(JSON.stringify({ type: 'req', id, method, params }));
    return result.parse(await Promise.race([asked.promise, failed.promise]));
  };
  try {
    await ask('connect', { minProtocol: PROTOCOL, maxProtocol: PROTOCOL, clientName: 'perch bridge' }, z.unknown());
    const [{ jobs }, { channels: all }, { value }, { sessions }] = await Promise.all([
      ask('cron.list', {}, cron['cron.list'].result),
      ask('channels.list', {}, channels['channels.list'].result),
      ask('config.get', {}, settings),
      ask('sessions.list', { limit: SESSIONS }, sessionList['sessions.list'].result),
    ]);
    const histories = await Promise.all(
      sessions.map(({ sessionId, agentId }) => ask('chat.history', { sessionId, agentId, limit: 1 }, chat['chat.history'].result)),
    );
    const next = jobs.flatMap(({ enabled, nextRunAt }) => (enabled && nextRunAt !== null ? [nextRunAt] : []));
    return {
      busy:
        value.heartbeat?.enabled === true ||
        all.some(({ id, source }) => source === 'runtime' && id !== OWN_CHANNEL) ||
        jobs.some(({ lastStatus }) => lastStatus === 'running') ||
        histories.some(({ runs }) => runs.length > 0),
      dueAt: next.length > 0 ? Math.min(...next) : null,
    };
  } finally {
    clearTimeout(timer);
    link.close();
  }
}
