import type { Clock } from '#shared/async/clock.ts';
import type { ExecRecord, Vault } from '../../storage/vault-interface.ts';
import { mergeSources } from './content-sources.ts';

/** Files written by a command are found by a scan of the folder that starts this long after the command's end. */
const SETTLE_MS = 60_000;

interface TaintedCommandsDeps {
  vault: Pick<Vault, 'collection'>;
  clock: Pick<Clock, 'now'>;
}

/**
 * Commands of tainted runs: files that change on disk while one runs, or shortly after, may be its work and not the owner's. Derived from
 * the requests in the vault, so that a restart or another host does not lose them.
 */
export class TaintedCommands {
  readonly #deps: TaintedCommandsDeps;

  constructor(deps: TaintedCommandsDeps) {
    this.#deps = deps;
  }

  /** Sources of the commands that may have written the latest changes on disk. */
  async getSources(): Promise<readonly string[]> {
    return mergeSources(...(await this.#listOpen()).map(({ readOutside }) => readOutside));
  }

  /** Records that all folders were identical to the vault at `scannedAt`. */
  async markSettled(scannedAt: number): Promise<void> {
    const requests = this.#deps.vault.collection('execRequests');
    for (const { requestId } of (await this.#listOpen()).filter(({ endedAt }) => endedAt !== undefined && endedAt + SETTLE_MS <= scannedAt))
      await requests.update(requestId, (before) => before && { ...before, isSettled: true });
  }

  /** Running commands, and commands whose files may not have been found yet. */
  async #listOpen(): Promise<ExecRecord[]> {
    const requests = await this.#deps.vault.collection('execRequests').list();
    return requests.filter(
      ({ readOutside, isSettled, status, endedAt }) =>
        readOutside !== undefined && !isSettled && (status === 'running' || endedAt !== undefined),
    );
  }
}
