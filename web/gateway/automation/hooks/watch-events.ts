import type { AnyEvent } from '#shared/rpc/events.ts';
import type { HookEvent } from '#shared/rpc/methods/hook-contracts.ts';
import type { OutgoingHookRecord } from '../../storage/records/hook-records.ts';
import { toPlainText } from '../../storage/session-views.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { toSessionKey } from '../../storage/chat-records.ts';
import { isChannelSession } from '../../system/channel-session.ts';
import type { EventBus } from '../../system/event-bus.ts';

/** Maximum number of characters of a text in an event. */
const MAX_TEXT_CHARS = 10_000;

interface WatchEventsDeps {
  hub: EventBus;
  vault: Pick<Vault, 'collection' | 'messages'>;
  /** Time from which on runs of jobs are reported. */
  since: number;
  now(): number;
  emit(event: HookEvent, key: string, at: number, createData: (hook: OutgoingHookRecord) => Promise<object>): Promise<void>;
  fault(error: unknown): unknown;
}

/** Reports events of the gateway to outgoing hooks; returns a function that stops it. */
export function watchEvents({ hub, vault, since, now, emit, fault }: WatchEventsDeps): () => void {
  const readText = async ({ withText }: OutgoingHookRecord, messageId: string | undefined): Promise<{ text?: string }> => {
    const message = withText && messageId !== undefined ? await vault.messages.get(messageId) : undefined;
    return message ? { text: toPlainText(message.content).slice(0, MAX_TEXT_CHARS) } : {};
  };
  /** Ids of runs of jobs. */
  const reported = new Set<string>();
  const reportJob = async (jobId: string): Promise<void> => {
    for (const run of await vault.collection('jobRuns').list(`${jobId}@`)) {
      const { id, completedAt, status, error, agentId, sessionId, runId } = run;
      if (completedAt === undefined || completedAt < since || status === 'skipped' || reported.has(id)) continue;
      reported.add(id);
      const job = await vault.collection('jobs').get(jobId);
      const data = {
        jobId,
        name: job?.name ?? run.jobName ?? jobId,
        status,
        agentId,
        sessionId,
        runId,
        ...(error === undefined ? {} : { error }),
      };
      await emit(status === 'completed' ? 'job.completed' : 'job.failed', id, completedAt, async () => data);
    }
  };
  const report = async ({ event, payload }: AnyEvent): Promise<void> => {
    switch (event) {
      case 'chat.done': {
        const {
          usage: { inputTokens, outputTokens },
          messageId,
          ...ids
        } = payload;
        const data = { ...ids, messageId, usage: { inputTokens, outputTokens } };
        return emit('run.completed', ids.runId, now(), async (hook) => ({ ...data, ...(await readText(hook, messageId)) }));
      }
      case 'chat.error': {
        const { error, ...ids } = payload;
        return emit('run.failed', ids.runId, now(), async () => ({ ...ids, error: { code: error.code, message: error.message } }));
      }
      case 'chat.message': {
        const { content, timestamp, ...ids } = payload;
        if (!isChannelSession(toSessionKey(ids.agentId, ids.sessionId))) return;
        const text = content.slice(0, MAX_TEXT_CHARS);
        return emit('message.received', ids.messageId, timestamp, async ({ withText }) => ({ ...ids, ...(withText ? { text } : {}) }));
      }
      case 'approval.requested': {
        const { id, tool, summary, agentId, sessionId, runId } = payload.approval;
        return emit('approval.requested', id, now(), async ({ withText }) => ({
          ...{ id, tool, agentId, sessionId, runId },
          ...(withText ? { summary } : {}),
        }));
      }
      case 'exec.requested': {
        const { requestId, command } = payload.request;
        return emit('approval.requested', requestId, now(), async ({ withText }) => ({
          ...{ id: requestId, tool: 'exec' },
          ...(withText ? { summary: command } : {}),
        }));
      }
      case 'delivery.changed': {
        const { id, state, error } = payload;
        if (state !== 'unsent' && state !== 'unconfirmed') return;
        return emit('delivery.failed', `${id} ${state}`, now(), async () => ({ id, state, ...(error === undefined ? {} : { error }) }));
      }
      case 'cron.changed':
        return reportJob(payload.jobId);
      default:
    }
  };
  return hub.add({ all: true, follows: () => false, push: (event) => void report(event).catch(fault) });
}
