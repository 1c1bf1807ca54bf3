import { removeFrom } from './requests.ts';
import type { WriteTransaction } from './schema.ts';

/** The key range of a run's steps. */
export const stepsOf = (runId: string): IDBKeyRange => IDBKeyRange.bound([runId], [runId, []]);

/** What is kept of a run only while it is under way: the text and the steps so far. */
export function forgetUnderWay(tx: WriteTransaction, runId: string): void {
  removeFrom(tx, 'partials', runId);
  removeFrom(tx, 'runSteps', stepsOf(runId));
}
