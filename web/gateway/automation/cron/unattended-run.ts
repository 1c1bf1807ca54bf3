import type { RpcError } from '#shared/rpc/rpc-error.ts';
import type { CronRun } from '#shared/rpc/methods/cron-contracts.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Runs, SendRequest } from '../../agent/runs/runs.ts';

/** Time limit for an unattended run. */
export const RUN_TIMEOUT_MS = 10 * 60_000;
const TIMED_OUT = 'Timed out after 10 minutes';

/** How a run ended; `messageId`: its reply. */
export type JobOutcome = Pick<CronRun, 'status' | 'error' | 'runId'> & { messageId?: string };

export interface UnattendedRunDeps {
  runs: Pick<Runs, 'send' | 'abortRun'>;
  clock: Clock;
  fault(error: unknown): RpcError;
}

/** Sends a message to an agent and waits for the answer, at most ten minutes including the time in the queue. Never rejects. */
export async function runUnattended({ runs, clock, fault }: UnattendedRunDeps, request: SendRequest): Promise<JobOutcome> {
  const timeout = Promise.withResolvers<JobOutcome>();
  let runId: string | undefined;
  const cancel = clock.after(RUN_TIMEOUT_MS, () => {
    // A queued run learns of it when its turn comes, and leaves nothing.
    if (runId !== undefined) runs.abortRun(runId, TIMED_OUT);
    timeout.resolve({ status: 'timeout', error: TIMED_OUT });
  });
  const sent = runs.send({ ...request, onrun: (id) => (runId = id) }).then(
    ({ messageId }): JobOutcome => ({ status: 'completed', messageId }),
    (error: unknown) => ({ status: 'failed' as const, error: fault(error).message }),
  );
  const outcome = await Promise.race([timeout.promise, sent]);
  cancel();
  return { ...outcome, ...(runId === undefined ? {} : { runId }) };
}
