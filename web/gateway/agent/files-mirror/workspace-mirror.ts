import { filesPort, type FolderEntry } from '#shared/ports/files-port.ts';
import type { MirrorState } from '#shared/rpc/methods/workspace-contracts.ts';
import { parseDialogDate } from '../../knowledge/memory/layout.ts';
import { FileExchange, type FileExchangeDeps, type SyncWork } from './file-exchange.ts';
import { MirroredFiles, type MirroredFilesDeps } from './mirrored-files.ts';
import { type FileState, listFileStates, VaultHashes } from './file-state.ts';
import { computeSyncAction } from './sync-action.ts';

/** Files that disappeared from one side at once, possibly by accident. */
interface MassDeletion {
  from: 'folder' | 'vault';
  paths: ReadonlySet<string>;
}

/** Maximum number of rounds while both sides keep changing. */
const MAX_ROUNDS = 12;
const GENERATED_PROBLEM = 'it is generated from chats and was changed in the folder; delete it to generate it again';
/** Maximum number of skipped files listed by name. */
const MAX_SKIPPED_LISTED = 100;

/** Dependencies of `WorkspaceMirror`. */
interface WorkspaceMirrorDeps
  extends
    Pick<FileExchangeDeps, 'bridge' | 'vault' | 'clock' | 'timeZone' | 'beforeImport' | 'beforeCopy'>,
    Pick<MirroredFilesDeps, 'dialogs'> {
  /** Reports a file that is skipped; called once per reason. */
  onSkipped(workspace: string, path: string, reason: string): void;
}

/** Handling of missing files: restore them from the other side, or remove them there too. */
export type MissingFilesChoice = 'restore' | 'remove';

/** Three-way sync of a workspace with its folder. */
export class WorkspaceMirror {
  readonly #deps: WorkspaceMirrorDeps;
  readonly #workspace: string;
  readonly #files: MirroredFiles;
  readonly #hashes: VaultHashes;
  /** State of the folder when nothing was left to do; null forces a scan. */
  #syncedState: string | null = null;
  /** Whether the vault has changed since its comparison began. */
  #hasChanged = false;
  /** Paths known to have been deleted from the vault on purpose. */
  readonly #removedPaths = new Set<string>();
  /** Files that could not be synced in a given state, with the reason. */
  readonly #rejected = new Map<string, { as: string; why: string }>();
  readonly #reported = new Set<string>();
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
  handleFileChange(path: string, removed: boolean): void {
    this.#hasChanged = true;
    this.#syncedState = null;
    if (removed) this.#removedPaths.add(path);
    else this.#removedPaths.delete(path);
  }

  /** Discards the state: another bridge has another folder. */
  reset(): void {
    this.#syncedState = null;
  }

  /** Sets the state to failed; the next sync scans the folder. */
  setFailed(message: string): void {
    this.#syncedState = null;
    this.#state = { ...this.#state, state: 'failed', problem: message };
  }

  /**
   * Resolves once both sides are equal or cannot be made equal. Rejects if one of them is unavailable. `choice`: what to do about missing
   * files.
   */
  async sync(signal: AbortSignal, choice?: MissingFilesChoice): Promise<void> {
    let isFirst = true;
    for (let tries = 0; tries < MAX_ROUNDS; tries++) {
      if (!(await this.#syncRound(signal, isFirst, isFirst ? choice : undefined))) return;
      isFirst = false;
    }
  }

  /** Returns false if nothing is left to do. */
  async #syncRound(signal: AbortSignal, isFirst: boolean, choice: MissingFilesChoice | undefined): Promise<boolean> {
    const { bridge } = this.#deps;
    const workspace = this.#workspace;
    const entries: FolderEntry[] = [];
    this.#hasChanged = false;
    if (await this.#files.haveDialogsChanged()) this.#syncedState = null;
    const { state, folder, mark } = await bridge.call(
      filesPort,
      'files.scan',
      { workspace, known: choice === undefined ? this.#syncedState : null, make: choice !== undefined },
      { signal, on: { 'files.entries': (batch) => void entries.push(...batch.entries) } },
    );
    if (state === 'same') return false;
    if (isFirst) this.#rejected.clear();
    const rows = await listFileStates(entries, await this.#files.list(), this.#hashes);
    // Generated files do not count as lost: they are removed with their conversations, and generated again if missing.
    const notGenerated = rows.filter(({ path }) => parseDialogDate(path) === undefined);
    const massDeletion = detectMassDeletion(notGenerated, state === 'vanished', this.#removedPaths);
    if (massDeletion && choice === undefined) {
      this.#pause(folder, massDeletion);
      return false;
    }
    const skipped = new Map<string, string>();
    const skip = (row: FileState, reason: string): void => {
      this.#rejected.set(row.path, { as: toVersion(row), why: reason });
      skipped.set(row.path, reason);
    };
    const exchange = new FileExchange({ ...this.#deps, files: this.#files, workspace, signal, skip }, rows);
    if (massDeletion && massDeletion.paths.size > 0 && choice === 'restore') await exchange.clearBaseline(massDeletion.paths);
    else await exchange.run(this.#groupByAction(rows, skipped));
    if (!exchange.hasProgress && !this.#hasChanged) this.#syncedState = mark;
    this.#setSynced(folder, skipped);
    return exchange.hasProgress || this.#hasChanged;
  }

  /** Groups the files by action; skipped files are added to `skipped`. */
  #groupByAction(rows: readonly FileState[], skipped: Map<string, string>): SyncWork {
    const work: SyncWork = { nothing: [], note: [], 'to-disk': [], 'to-vault': [], 'off-disk': [], 'off-vault': [], conflict: [] };
    for (const row of rows) {
      const { path, disk, agreed, record, vault, problem } = row;
      const rejected = this.#rejected.get(path);
      if (problem !== undefined) skipped.set(path, problem);
      else if (rejected && rejected.as === toVersion(row)) skipped.set(path, rejected.why);
      // Written meanwhile: the next round compares it again.
      else if (record && vault === undefined && (disk !== null || agreed !== null)) this.#hasChanged = true;
      else if (record && vault === undefined) work['to-disk'].push(row);
      else {
        const action = computeSyncAction({ agreed: agreed?.hash ?? null, disk, vault: vault ?? null });
        if (!this.#files.isGenerated(path)) work[action].push(row);
        else if (action === 'off-vault') work['to-disk'].push(row);
        else if (action === 'to-vault' || action === 'conflict') skipped.set(path, GENERATED_PROBLEM);
        else work[action].push(row);
      }
    }
    return work;
  }

  #pause(folder: string, massDeletion: MassDeletion): void {
    const count = massDeletion.paths.size;
    const problem =
      massDeletion.from === 'folder'
        ? `${count === 0 ? 'All' : count} files disappeared from ${folder} at once. Syncing is paused and nothing was deleted here.`
        : `${count} files disappeared from the workspace at once. Syncing is paused and nothing was deleted in its folder.`;
    this.#syncedState = null;
    this.#state = { ...this.#state, folder, state: 'stopped', problem, gone: { from: massDeletion.from, count } };
  }

  #setSynced(folder: string, skipped: ReadonlyMap<string, string>): void {
    const list = [...skipped].map(([path, why]) => ({ path, why }));
    for (const { path, why } of list) {
      const report = `${path}\n${why}`;
      if (!this.#reported.has(report)) this.#deps.onSkipped(this.#workspace, path, why);
      this.#reported.add(report);
    }
    this.#state = {
      ...{ workspace: this.#workspace, folder, state: 'synced', problem: null, gone: null },
      ...{ skipped: list.slice(0, MAX_SKIPPED_LISTED), skippedCount: list.length },
    };
  }
}

/** Version to which a refusal applies; another version is tried again. */
const toVersion = ({ disk, record }: FileState): string => `${disk} ${record?.size} ${record?.modifiedAt}`;

/**
 * Detects a suspicious mass deletion: one side became empty, or more than half of the baseline's files are gone, as with an unmounted disk
 * or a new vault. Returns the files that would be deleted on the other side. `removed`: paths known to have been deleted from the vault on
 * purpose.
 */
function detectMassDeletion(rows: readonly FileState[], isVanished: boolean, removed: ReadonlySet<string>): MassDeletion | undefined {
  const agreed = rows.filter((row) => row.agreed !== null);
  const isMuch = (missing: readonly FileState[], remainingCount: number): boolean =>
    missing.length > 0 && (remainingCount === 0 || missing.length * 2 > agreed.length);
  const contents = new Set(rows.map(({ disk }) => disk));
  const fromFolder = agreed.filter(({ disk, problem, record }) => disk === null && problem === undefined && record !== null);
  // A move is not a deletion.
  const lostRows = fromFolder.filter((row) => !contents.has(row.agreed?.hash ?? null));
  const onDisk = rows.filter(({ disk, problem }) => disk !== null || problem !== undefined).length;
  if (isVanished || isMuch(lostRows, onDisk)) return { from: 'folder', paths: new Set(fromFolder.map(({ path }) => path)) };
  const fromVault = agreed.filter(({ path, disk, record }) => record === null && disk !== null && !removed.has(path));
  const inVault = rows.filter(({ record }) => record !== null).length;
  return isMuch(fromVault, inVault) ? { from: 'vault', paths: new Set(fromVault.map(({ path }) => path)) } : undefined;
}
