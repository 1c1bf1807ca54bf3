import type { Workspace } from '../../memory/workspace.ts';
import { ReviewError } from '../review-queue.ts';
import type { ChangeLog } from './change-log.ts';
import { canApply, editMemories, type MemoryChange } from './memory-change.ts';

interface ChangeReviewDeps {
  workspace: Workspace;
  longTermFile: string;
  log: ChangeLog;
  now: () => number;
  /** Runs a function while no phase is active. */
  inTurn: <Result>(run: () => Promise<Result>) => Promise<Result>;
}

/** Applies changes of the long-term memory and undoes them. Methods that take an id throw a `ReviewError` for one that does not fit. */
export class ChangeReview {
  readonly #deps: ChangeReviewDeps;

  constructor(deps: ChangeReviewDeps) {
    this.#deps = deps;
  }

  /** All changes in their current state, latest first. */
  async history(): Promise<MemoryChange[]> {
    return [...(await this.#deps.log.read()).changes.values()].sort((a, b) => b.at - a.at);
  }

  /** Applies a change that was not applied, whatever the exam said. */
  apply(id: string): Promise<MemoryChange> {
    return this.#decide(id, async (change) => {
      if (change.state === 'applied') throw new ReviewError('settled', 'The change has already been made.');
      if (!canApply(await this.#readFile(), change))
        throw new ReviewError('unfit', 'The change can’t be made: a memory that it replaces has changed or is gone.');
      const [applied] = await this.applyAll([change]);
      return applied ?? change;
    });
  }

  /** Restores the memories that an applied change replaced. */
  undo(id: string): Promise<MemoryChange> {
    return this.#decide(id, async (change) => {
      if (change.state !== 'applied') throw new ReviewError('settled', 'The change has not been made.');
      const { workspace, longTermFile } = this.#deps;
      await workspace.update(longTermFile, (file = '') => editMemories(file, { removed: change.added, added: change.removed }));
      return this.#put({ ...change, state: 'undone' });
    });
  }

  /** Rejects a proposed change. It is not made again. */
  dismiss(id: string): Promise<MemoryChange> {
    return this.#decide(id, (change) => {
      if (change.state !== 'proposed') throw new ReviewError('settled', 'The change does not wait for a decision.');
      return this.#put({ ...change, state: 'dismissed' });
    });
  }

  /** Makes changes. The caller has checked them, and is the active phase or decision. */
  async applyAll(changes: readonly MemoryChange[]): Promise<MemoryChange[]> {
    const { log, now } = this.#deps;
    const begun = changes.map((change): MemoryChange => ({ ...change, state: 'applying', at: now() }));
    await log.put(begun);
    return this.#finish(begun);
  }

  /** Completes changes that a crash interrupted. */
  async finishInterrupted(): Promise<void> {
    await this.#finish([...(await this.#deps.log.read()).changes.values()].filter(({ state }) => state === 'applying'));
  }

  async #finish(begun: readonly MemoryChange[]): Promise<MemoryChange[]> {
    const { workspace, longTermFile, log, now } = this.#deps;
    const applied: MemoryChange[] = [];
    for (const change of begun) {
      await workspace.update(longTermFile, (file = '') => editMemories(file, change));
      applied.push({ ...change, state: 'applied', at: now() });
    }
    await log.put(applied);
    return applied;
  }

  #decide(id: string, act: (change: MemoryChange) => Promise<MemoryChange>): Promise<MemoryChange> {
    return this.#deps.inTurn(async () => {
      await this.finishInterrupted();
      const change = (await this.#deps.log.read()).changes.get(id);
      if (!change) throw new ReviewError('absent', `No change with id "${id}".`);
      return act(change);
    });
  }

  async #put(change: MemoryChange): Promise<MemoryChange> {
    const changed = { ...change, at: this.#deps.now() };
    await this.#deps.log.put([changed]);
    return changed;
  }

  async #readFile(): Promise<string> {
    return (await this.#deps.workspace.read(this.#deps.longTermFile)) ?? '';
  }
}
