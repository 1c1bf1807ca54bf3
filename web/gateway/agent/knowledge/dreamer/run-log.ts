import { z } from '#shared/rpc/zod.ts';
import { type DreamRun, dreamRun } from '#shared/rpc/methods/dreaming-contracts.ts';
import { type BrokenLine, parseJsonLines } from '../../../knowledge/dreaming/json-lines.ts';
import type { Workspace } from '../../../knowledge/memory/workspace.ts';

const RUNS_FILE = '.dreams/runs.jsonl';
const MAX_RUNS = 100;
/** Time in milliseconds for which a run of another host is assumed to be active. */
const MAX_RUN_MS = 15 * 60_000;

/** A stored run. The executor distinguishes an active run from an interrupted one. */
const storedRun = dreamRun.extend({ executor: z.string().default('') });
type StoredRun = z.output<typeof storedRun>;

/** History of dreaming runs: JSON Lines in `.dreams/runs.jsonl` of a workspace, one line for each of the last hundred runs. */
export class RunLog {
  readonly #workspace: Workspace;
  readonly #executor: string;

  /** `executor`: id of this process, different at each start. */
  constructor(workspace: Workspace, executor: string) {
    [this.#workspace, this.#executor] = [workspace, executor];
  }

  /** Writes a run, replacing its earlier line. */
  async put(run: DreamRun): Promise<void> {
    const text = JSON.stringify({ ...run, executor: this.#executor } satisfies StoredRun);
    await this.#workspace.update(RUNS_FILE, (file = '') => {
      const others = file.split('\n').filter((line) => line.trim() !== '' && !line.startsWith(`{"id":${JSON.stringify(run.id)},`));
      return [...others, text].slice(-MAX_RUNS).join('\n') + '\n';
    });
  }

  /** Newest first. `isActive`: whether the run is active on this host. */
  async list(now: number, isActive: (id: string) => boolean): Promise<{ runs: DreamRun[]; broken: BrokenLine[] }> {
    const { values, broken } = parseJsonLines((await this.#workspace.read(RUNS_FILE)) ?? '', storedRun, RUNS_FILE);
    const runs = values.map(({ value: { executor, ...run } }): DreamRun => {
      const isRunning = isActive(run.id) || (executor !== this.#executor && now - run.startedAt < MAX_RUN_MS);
      return run.state === 'running' && !isRunning ? { ...run, state: 'interrupted', phase: null } : run;
    });
    return {
      runs: runs.sort((a, b) => b.startedAt - a.startedAt),
      broken: broken.map(({ path, line, why }) => ({ path, line, why })),
    };
  }
}
