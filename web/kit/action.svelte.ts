import { type Problem, toProblem } from './problems.ts';

/** Runs one asynchronous action of a button or form at a time and keeps whether it runs and the last problem. */
export class Action {
  working = $state(false);
  problem = $state.raw<Problem | null>(null);

  /** Runs the action, unless another one is running. `doing` completes "Couldn’t …". */
  async run(doing: string, work: () => unknown): Promise<void> {
    if (this.working) return;
    this.working = true;
    this.problem = null;
    try {
      await work();
    } catch (error) {
      this.problem = toProblem(error, doing);
    } finally {
      this.working = false;
    }
  }
}
