import { type Problem, problemOf } from '#lib/errors.ts';

/** What a person does by a button or a form, one thing at a time: whether it is under way, and what went wrong with the last one. */
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
      this.problem = problemOf(error, doing);
    } finally {
      this.working = false;
    }
  }
}
