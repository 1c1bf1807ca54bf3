import { filesPort, type FolderEntry } from '#shared/ports/files.ts';
import type { MirrorState } from '#shared/rpc/methods/workspace.ts';
import { dialogDate } from '../memory/layout.ts';
import { Exchange, type ExchangeDeps, type Work } from './exchange.ts';
import { MirroredFiles, type MirroredFilesDeps } from './mirrored-files.ts';
import { type Row, rowsOf, VaultHashes } from './sides.ts';
import { verdictOn } from './three-way.ts';
import { type Gone, tooMuchGone } from './too-much-gone.ts';

/** Maximum number of rounds while both sides keep changing. */
const TRIES = 12;
const MADE = 'it is generated from chats and was changed in the folder; delete it to generate it again';
/** Maximum number of skipped files listed by name. */
const MAX_TOLD = 100;

export interface WorkspaceMirrorDeps
  extends Pick<ExchangeDeps, 'bridge' | 'vault' | 'clock' | 'timeZone' | 'taken'>, Pick<MirroredFilesDeps, 'dialogs'> {
  /** Reports a file that is skipped; called once per reason. */
  skipped(workspace: string, path: string, why: string): void;
}

/** Handling of missing files: restore them from the other side, or remove them there too. */
export type GoneChoice = 'restore' | 'remove';

/** Three-way sync of a workspace with its folder. */
export class WorkspaceMirror {
  readonly #deps: WorkspaceMirrorDeps;
  readonly #workspace: string;
  readonly #files: MirroredFiles;
  readonly #hashes: VaultHashes;
  /** State of the folder when nothing was left to do; null forces a scan. */
  #settled: string | null = null;
  /** Whether the vault has changed since its comparison began. */
  #changed = false;
  /** Paths known to have been deleted from the vault on purpose. */
  readonly #removed = new Set<string>();
  /** Files that could not be synced in a given state, with the reason. */
  readonly #refused = new Map<string, { as: string; why: string }>();
  readonly #told = new Set<string>();
  #state: MirrorState;

  constructor(deps: WorkspaceMirrorDeps, workspace: string) {
    this.#deps = deps;
    this.#workspace = workspace;
    this.#files = new MirroredFiles(deps, workspace);
    this.#hashes = new VaultHashes(this.#files);
    this.#state = { workspace, folder: null, state: 'waiting', problem: null, gone: null, skipped: [], skippedCount: 0 };
  }

  get state(): MirrorState {
    return this.#state;
  }

  /** Reports that a file of the vault was written or removed. */
  noted(path: string, removed: boolean): void {
    this.#changed = true;
    this.#settled = null;
    if (removed) this.#removed.add(path);
    else this.#removed.delete(path);
  }

  /** Discards the state: another bridge has another folder. */
  forget(): void {
    this.#settled = null;
  }

  failed(message: string): void {
    this.#settled = null;
    this.#state = { ...this.#state, state: 'failed', problem: message };
  }

  /**
   * Resolves once both sides are equal or cannot be made equal. Rejects if one of them is unavailable. `choice`: what to do about missing
   * files.
   */
  async agree(signal: AbortSignal, choice?: GoneChoice): Promise<void> {
    let isFirst = true;
    for (let tries = 0; tries < TRIES; tries++) {
      if (!(await this.#round(signal, isFirst, isFirst ? choice : undefined))) return;
      isFirst = false;
    }
  }

  /** Returns false if nothing is left to do. */
  async #round(signal: AbortSignal, isFirst: boolean, choice: GoneChoice | undefined): Promise<boolean> {
    const { bridge } = this.#deps;
    const workspace = this.#workspace;
    const entries: FolderEntry[] = [];
    this.#changed = false;
    if (await this.#files.haveDialogsChanged()) this.#settled = null;
    const { state, folder, mark } = await bridge.call(
      filesPort,
      'files.scan',
      { workspace, known: choice === undefined ? this.#settled : null, make: choice !== undefined },
      { signal, on: { 'files.entries': (told) => void entries.push(...told.entries) } },
    );
    if (state === 'same') return false;
    if (isFirst) this.#refused.clear();
    const rows = await rowsOf(entries, await this.#files.list(), this.#hashes);
    // Generated files do not count as lost: they are removed with their conversations, and generated again if missing.
    const own = rows.filter(({ path }) => dialogDate(path) === undefined);
    const gone = tooMuchGone(own, state === 'vanished', this.#removed);
    if (gone && choice === undefined) {
      this.#stopped(folder, gone);
      return false;
    }
    const skipped = new Map<string, string>();
    const refuse = (row: Row, why: string): void => {
      this.#refused.set(row.path, { as: versionOf(row), why });
      skipped.set(row.path, why);
    };
    const exchange = new Exchange({ ...this.#deps, files: this.#files, workspace, signal, refuse }, rows);
    if (gone && gone.paths.size > 0 && choice === 'restore') await exchange.forget(gone.paths);
    else await exchange.do(this.#sorted(rows, skipped));
    if (!exchange.isDone && !this.#changed) this.#settled = mark;
    this.#tell(folder, skipped);
    return exchange.isDone || this.#changed;
  }

  /** Groups the files by action; skipped files are added to `skipped`. */
  #sorted(rows: readonly Row[], skipped: Map<string, string>): Work {
    const work: Work = { nothing: [], note: [], 'to-disk': [], 'to-vault': [], 'off-disk': [], 'off-vault': [], conflict: [] };
    for (const row of rows) {
      const { path, disk, agreed, record, vault, problem } = row;
      const refused = this.#refused.get(path);
      if (problem !== undefined) skipped.set(path, problem);
      else if (refused && refused.as === versionOf(row)) skipped.set(path, refused.why);
      // Written meanwhile: the next round compares it again.
      else if (record && vault === undefined && (disk !== null || agreed !== null)) this.#changed = true;
      else if (record && vault === undefined) work['to-disk'].push(row);
      else {
        const verdict = verdictOn({ agreed: agreed?.hash ?? null, disk, vault: vault ?? null });
        if (!this.#files.isMade(path)) work[verdict].push(row);
        else if (verdict === 'off-vault') work['to-disk'].push(row);
        else if (verdict === 'to-vault' || verdict === 'conflict') skipped.set(path, MADE);
        else work[verdict].push(row);
      }
    }
    return work;
  }

  #stopped(folder: string, gone: Gone): void {
    const count = gone.paths.size;
    const problem =
      gone.from === 'folder'
        ? `${count === 0 ? 'All' : count} files disappeared from ${folder} at once. Syncing is paused and nothing was deleted here.`
        : `${count} files disappeared from the workspace at once. Syncing is paused and nothing was deleted in its folder.`;
    this.#settled = null;
    this.#state = { ...this.#state, folder, state: 'stopped', problem, gone: { from: gone.from, count } };
  }

  #tell(folder: string, skipped: ReadonlyMap<string, string>): void {
    const list = [...skipped].map(([path, why]) => ({ path, why }));
    for (const { path, why } of list) {
      const said = `${path}\n${why}`;
      if (!this.#told.has(said)) this.#deps.skipped(this.#workspace, path, why);
      this.#told.add(said);
    }
    this.#state = {
      ...{ workspace: this.#workspace, folder, state: 'synced', problem: null, gone: null },
      ...{ skipped: list.slice(0, MAX_TOLD), skippedCount: list.length },
    };
  }
}

/** Version to which a refusal applies; another version is tried again. */
const versionOf = ({ disk, record }: Row): string => `${disk} ${record?.size} ${record?.modifiedAt}`;
