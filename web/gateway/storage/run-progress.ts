import type { RunStep, StepResult } from './chat-records.ts';
import { removeFromStore } from './store-requests.ts';
import type { WriteTransaction } from './vault-schema.ts';

/** The key range of a run's steps and their results. */
export const getStepsRange = (runId: string): IDBKeyRange => IDBKeyRange.bound([runId], [runId, []]);

/** Removes the data that a run has only while it is active: the text and the steps so far. */
export function deleteRunProgress(tx: WriteTransaction, runId: string): void {
  removeFromStore(tx, 'partials', runId);
  removeFromStore(tx, 'runSteps', getStepsRange(runId));
}

/** The steps, each with the results that follow it. */
export function joinResults(rows: readonly (RunStep | StepResult)[]): RunStep[] {
  const steps: (RunStep & { results: Map<string, StepResult['result']> })[] = [];
  for (const row of rows) {
    if ('said' in row) steps.push({ ...row, results: new Map(row.results) });
    else steps.at(-1)?.results.set(row.callId, row.result);
  }
  return steps;
}
