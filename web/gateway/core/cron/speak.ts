import type { RpcError } from '#shared/rpc/errors.ts';
import type { JobRun } from '#shared/rpc/methods/cron.ts';
import type { Clock } from '../clock.ts';
import type { Runs, SendRequest } from '../runs/runs.ts';

/** A run that nobody waits for is ended after so long. */
export const LIMIT_MS = 10 * 60_000;
const TOO_LONG = 'Timed out after 10 minutes';

export interface SpeakDeps {
  runs: Pick<Runs, 'send' | 'abortRun'>;
  clock: Clock;
  fault(error: unknown): RpcError;
}

/** Sends to an agent and waits for the answer, ten minutes at the most, the time in line too. Never rejects. */
export async function speak({ runs, clock, fault }: SpeakDeps, request: SendRequest): Promise<Pick<JobRun, 'status' | 'error' | 'runId'>> {
  const late = Promise.withResolvers<Pick<JobRun, 'status' | 'error'>>();
  let runId: string | undefined;
  const cancel = clock.after(LIMIT_MS, () => {
    // One that waits in line learns of it when its turn comes, and leaves nothing.
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
