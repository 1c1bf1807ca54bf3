import type { Mux } from '#shared/link/mux.ts';
import { textLink } from '#shared/link/text-link.ts';
import { LEVELS } from '#shared/rpc/contract.ts';
import { PROTOCOL_VERSION } from '#shared/rpc/limits.ts';
import { cronContracts } from '#shared/rpc/methods/cron-contracts.ts';
import { channelContracts } from '#shared/rpc/methods/channel-contracts.ts';
import { chatContracts } from '#shared/rpc/methods/chat-contracts.ts';
import { sessionListContracts } from '#shared/rpc/methods/session-list-contracts.ts';
import { z } from '#shared/rpc/zod.ts';

/** Work that a host would leave undone. */
export interface PendingWork {
  /** Something is in progress or must run all the time: channels, the heartbeat. */
  busy: boolean;
  /** Time of the next due job, in milliseconds since the Unix epoch. */
  dueAt: number | null;
}

const RESPONSE_MS = 10_000;
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
/** Number of recently used sessions to check for a running reply. */
const MAX_SESSIONS = 20;

const responseSchema = z.object({ type: z.literal('res'), id: z.string(), ok: z.boolean(), payload: z.unknown() });
const settingsSchema = z.object({ value: z.looseObject({ heartbeat: z.looseObject({ enabled: z.boolean().default(false) }).optional() }) });
/** The app's own channel. */
const OWN_CHANNEL = 'webchat';

/** Asks a host, as a client, whether it can be stopped and for how long. Rejects if it does not answer. */
export async function getPendingWork(mux: Mux): Promise<PendingWork> {
  const waiting = new Map<string, PromiseWithResolvers<unknown>>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const stream = mux.open({ kind: 'rpc', principal: 'owner', scopes: [...LEVELS] });
  const link = textLink(stream, () => MAX_RESPONSE_BYTES);
  link.receive({
    message(text) {
      const { data } = responseSchema.safeParse(JSON.parse(text));
      const pending = data && waiting.get(data.id);
      if (!data || !pending) return;
      if (data.ok) pending.resolve(data.payload);
      else pending.reject(new Error('the host rejected the request'));
    },
    close: (_code, reason) => failed.reject(new Error(reason || 'the host disconnected')),
  });
  const timer = setTimeout(() => failed.reject(new Error('the host didn’t respond')), RESPONSE_MS);
  let calls = 0;
  const call = async <T>(method: string, params: object, result: z.ZodType<T>): Promise<T> => {
    const id = String(++calls);
    const pending = Promise.withResolvers<unknown>();
    waiting.set(id, pending);
    link.send(JSON.stringify({ type: 'req', id, method, params }));
    return result.parse(await Promise.race([pending.promise, failed.promise]));
  };
  try {
    await call('connect', { minProtocol: PROTOCOL_VERSION, maxProtocol: PROTOCOL_VERSION, clientName: 'perch bridge' }, z.unknown());
    const [{ jobs }, { channels: all }, { value }, { sessions }] = await Promise.all([
      call('cron.list', {}, cronContracts['cron.list'].result),
      call('channels.list', {}, channelContracts['channels.list'].result),
      call('config.get', {}, settingsSchema),
      call('sessions.list', { limit: MAX_SESSIONS }, sessionListContracts['sessions.list'].result),
    ]);
    const histories = await Promise.all(
      sessions.map(({ sessionId, agentId }) =>
        call('chat.history', { sessionId, agentId, limit: 1 }, chatContracts['chat.history'].result),
      ),
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
