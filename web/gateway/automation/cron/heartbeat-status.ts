import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { HEARTBEAT } from './job-runs.ts';
import { type ChecklistDeps, readChecklist } from './heartbeat-checklist.ts';
import type { Vault } from '../../storage/vault-interface.ts';

const DAYS_30_MS = 30 * 24 * 3_600_000;

export type HeartbeatStatus = MethodResult<'cron.heartbeat'>;

/** State of the heartbeat, and the usage of its runs in the last 30 days. */
export async function getHeartbeatStatus(
  {
    vault,
    agents,
    settings,
    clock,
  }: Pick<ChecklistDeps, 'agents' | 'settings' | 'clock'> & {
    vault: Pick<Vault, 'collection' | 'usage' | 'files' | 'messages' | 'sessions'>;
  },
  agentId: string,
): Promise<HeartbeatStatus> {
  const { enabled, everyMs, deliver } = settings().heartbeat;
  const [last, usage, checklist] = await Promise.all([
    vault.collection('jobRuns').get(HEARTBEAT),
    vault.usage.since(clock.now() - DAYS_30_MS),
    readChecklist({ vault, agents }, agentId),
  ]);
  const calls = usage.filter(({ principal }) => principal === HEARTBEAT);
  return {
    ...{ enabled, everyMs, agentId, hasChecklist: checklist !== undefined },
    ...(deliver ? { deliver } : {}),
    last: last
      ? {
          at: last.startedAt,
          ...(last.isSilent === undefined ? {} : { isSilent: last.isSilent }),
          ...(last.error === undefined ? {} : { error: last.error }),
        }
      : null,
    usage: {
      cost: calls.reduce((sum, call) => sum + (call.usage.cost ?? 0), 0),
      tokens: calls.reduce((sum, call) => sum + call.usage.totalTokens, 0),
      calls: calls.length,
    },
  };
}
