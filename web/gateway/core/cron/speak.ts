import type { RpcError } from '#shared/rpc/errors.ts';
import type { JobRun } from '#shared/rpc/methods/cron.ts';
import type { Clock } from '../clock.ts';
import type { Runs, SendRequest } from '../runs/runs.ts';

/** Time limit for an unattended run. */
export const LIMIT_MS = 10 * 60_000;
const TOO_LONG = 'Timed out after 10 minutes';

export interface SpeakDeps {
  runs: Pick<Runs, 'send' | 'abortRun'>;
  clock: Clock;
  fault(error: unknown): RpcError;
}

/** Sends a message to an agent and waits for the answer, at most ten minutes including the time in the queue. Never rejects. */
export async function speak({ runs, clock, fault }: SpeakDeps, request: SendRequest): Promise<Pick<JobRun, 'status' | 'error' | 'runId'>> {
  const late = Promise.withResolvers<Pick<JobRun, 'status' | 'error'>>();
  let runId: string | undefined;
  const cancel = clock.after(LIMIT_MS, () => {
    // A queued run learns of it when its turn comes, and leaves nothing.
    if (runId !== undefined) runs.abortRun(runId, TOO_LONG);
    late.resolve({ status: 'timeout', error: TOO_LONG });
  });
  const sent = runs.send({ ...request, onrun: (id) => (runId = id) }).then(
    (): Pick<JobRun, 'status' | 'error'> => ({ status: 'completed' }),
    (error: unknown) => ({ status: 'failed' as const, error: fault(error).message }),
  );
  const outcome = await Promise.race([late.promise, sent]);
  cancel();
  return { ...outcome, ...(runId === undefined ? {} : { runId }) };
}
