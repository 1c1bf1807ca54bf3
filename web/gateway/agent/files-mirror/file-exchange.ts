import { filesPort, MAX_FOLDER_BATCH, type FolderStep } from '#shared/ports/files-port.ts';
import { type FileRecord, WORKSPACE_LIMITS } from '#shared/rpc/workspace-file.ts';
import { sha256 } from '#shared/sha256.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { FileChange } from '../../storage/records/file-change.ts';
import { toBytes, normalizeContent } from '../workspace/file-content.ts';
import { detectMediaType } from '../workspace/media-type.ts';
import type { MirroredFiles } from './mirrored-files.ts';
import type { FileState } from './file-state.ts';
import type { SyncAction } from './sync-action.ts';

/** Maximum length of a file name in bytes, and of a workspace path in characters. */
const MAX_NAME_BYTES = 255;

const MAX_PATH_CHARS = 400;

const encoder = new TextEncoder();

/** Whether a path is named like a conflict copy. */
const isConflictCopy = (path: string): boolean => path.includes(CONFLICT_MARK);

const CONFLICT_MARK = ' (conflict ';

/** Files by the action that syncs them. */
export type SyncWork = Record<SyncAction, FileState[]>;

/** Dependencies of `FileExchange`. */
export interface FileExchangeDeps {
  bridge: Bridge;
  vault: Pick<Vault, 'files'>;
  files: Pick<MirroredFiles, 'get' | 'isGenerated'>;
  clock: Clock;
  timeZone(): string;
  workspace: string;
  signal: AbortSignal;
  /** Called before these files receive their content from disk; the function that it resolves with, after that. */
  beforeImport(workspace: string, files: readonly FileRecord[]): Promise<(() => Promise<void>) | undefined>;
  /** Called before files of the vault are copied: their paths, and the paths of the copies. */
  beforeCopy(workspace: string, copies: readonly (readonly [path: string, copy: string])[]): Promise<void>;
  /** Reports that a file cannot be synced in its current state. */
  skip(row: FileState, reason: string): void;
}

const TOO_LARGE = `it is larger than ${WORKSPACE_LIMITS.fileBytes / 1024 / 1024} MiB`;
const FULL = `the workspace is full (limit: ${WORKSPACE_LIMITS.files} files or ${WORKSPACE_LIMITS.bytes / 1024 / 1024} MiB)`;

/**
 * Transfers files in batches, so that neither the worker nor the bridge is blocked. An interruption loses no file: copies are written
 * before anything is deleted.
 */
export class FileExchange {
  readonly #deps: FileExchangeDeps;
  readonly #rows: ReadonlyMap<string, FileState>;
  /** Whether something was changed or recorded, or has changed since. */
  hasProgress = false;

  constructor(deps: FileExchangeDeps, rows: readonly FileState[]) {
    this.#deps = deps;
    this.#rows = new Map(rows.map((row) => [row.path, row]));
  }

  /** Carries out all actions. */
  async run(work: SyncWork): Promise<void> {
    const replaceable = await this.#saveLosers(work.conflict);
    await this.#importFromDisk([...work['to-vault'], ...replaceable]);
    await this.#apply(work.note.map(toNoteStep));
    await this.#removeFromVault(work['off-vault']);
    await this.#apply(work['off-disk'].map(({ path, disk }) => ({ do: 'remove', path, base: disk })));
    await this.#writeToDisk(work['to-disk']);
  }

  /** Clears the sync baseline of these files in one step, so that an interruption does not make some of them look deleted. */
  async clearBaseline(paths: Iterable<string>): Promise<void> {
    await this.#send([...paths].map((path) => ({ do: 'note', path, agreed: null })));
  }

  /**
   * Saves the vault's versions of files that both sides changed under names of their own. Resolves with the rows whose vault file may now
   * be replaced by the disk's version.
   */
  async #saveLosers(rows: readonly FileState[]): Promise<FileState[]> {
    const { vault, clock, timeZone, workspace } = this.#deps;
    const copies = [...this.#rows.values()].filter(({ path }) => isConflictCopy(path));
    const names = new Set([...this.#rows.keys()].map((path) => path.toLowerCase()));
    const replaceable: FileState[] = [];
    for (const batch of toBatches(rows, (row) => row.record?.size ?? 0)) {
      const losers: FileState[] = [];
      const changes: FileChange[] = [];
      for (const row of batch) {
        const { path, vault: hash, record } = row;
        // Already saved: an earlier attempt failed after this step.
        if (copies.some((copy) => isConflictCopyOf(copy.path, path) && (copy.vault === hash || copy.disk === hash))) {
          replaceable.push(row);
          continue;
        }
        const losingFile = await vault.files.get(workspace, path);
        if (!losingFile || losingFile.modifiedAt !== record?.modifiedAt) {
          this.hasProgress = true;
          continue;
        }
        const naming = { at: clock.now(), timeZone: timeZone(), count: 1 };
        while (names.has(toConflictName(path, naming).toLowerCase())) naming.count++;
        const copy = toConflictName(path, naming);
        names.add(copy.toLowerCase());
        losers.push(row);
        changes.push({ path: copy, base: null, file: { ...losingFile, key: `${workspace}/${copy}`, path: copy } });
      }
      // As before an import: an interruption must leave no copy without its label.
      await this.#deps.beforeCopy(
        workspace,
        changes.map(({ path }, index) => [losers[index]?.path ?? '', path]),
      );
      const outcomes = await vault.files.replace(workspace, changes, WORKSPACE_LIMITS);
      for (const [index, row] of losers.entries()) {
        const outcome = outcomes[index]?.outcome;
        if (outcome === 'full') this.#deps.skip(row, `it changed on both sides, and ${FULL}`);
        else this.hasProgress = true;
        if (outcome === 'done') replaceable.push(row);
      }
    }
    return replaceable;
  }

  async #importFromDisk(rows: readonly FileState[]): Promise<void> {
    const { bridge, vault, workspace, signal } = this.#deps;
    const pending = new Map(rows.map((row) => [row.path, row]));
    while (pending.size > 0) {
      const batch = [...pending.values()].slice(0, MAX_FOLDER_BATCH.files);
      const requests = batch.flatMap(({ path, disk }) => (disk === null ? [] : [{ path, hash: disk }]));
      const { files } = await bridge.call(filesPort, 'files.read', { workspace, files: requests }, { signal });
      const changes: (FileChange & { row: FileState; file: FileRecord })[] = [];
      for (const file of files) {
        const row = pending.get(file.path);
        if (row) changes.push({ row, path: row.path, base: row.record, file: await this.#createRecord(file) });
      }
      // Called before writing, so that an interruption leaves no file without its label.
      const finishImport = await this.#deps.beforeImport(
        workspace,
        changes.map(({ file }) => file),
      );
      const outcomes = await vault.files.replace(workspace, changes, WORKSPACE_LIMITS);
      await finishImport?.();
      const notes: FolderStep[] = [];
      for (const [index, { row }] of changes.entries()) {
        const { outcome, file } = outcomes[index] ?? { outcome: 'changed', file: null };
        if (outcome === 'full') this.#deps.skip(row, FULL);
        else this.hasProgress = true;
        if (outcome === 'done' && file) notes.push(toNoteStep({ ...row, record: file }));
        pending.delete(row.path);
      }
      await this.#apply(notes);
      if (changes.length > 0) continue;
      // If none of them was unchanged, the next round looks at them again.
      for (const { path } of batch) pending.delete(path);
      this.hasProgress = true;
    }
  }

  async #createRecord({ path, content, encoding }: Pick<FileRecord, 'path' | 'content' | 'encoding'>): Promise<FileRecord> {
    const { workspace, clock } = this.#deps;
    const normalized = normalizeContent(content, encoding);
    const mimeType = await detectMediaType(path, toBytes(normalized));
    return { key: `${workspace}/${path}`, workspace, path, mimeType, modifiedAt: clock.now(), ...normalized };
  }

  async #removeFromVault(rows: readonly FileState[]): Promise<void> {
    const { vault, workspace } = this.#deps;
    for (const batch of toBatches(rows, () => 0)) {
      const changes = batch.map(({ path, record }) => ({ path, base: record, file: null }));
      const outcomes = await vault.files.replace(workspace, changes, WORKSPACE_LIMITS);
      this.hasProgress = true;
      const removed = changes.filter((_, index) => outcomes[index]?.outcome === 'done');
      await this.#apply(removed.map(({ path }) => ({ do: 'note', path, agreed: null })));
    }
  }

  async #writeToDisk(rows: readonly FileState[]): Promise<void> {
    const { files, skip } = this.#deps;
    // The size of a generated file is unknown until it is generated.
    for (const batch of toBatches(rows, ({ path, record }) => (files.isGenerated(path) ? MAX_FOLDER_BATCH.bytes : (record?.size ?? 0)))) {
      const steps: FolderStep[] = [];
      for (const row of batch) {
        const { path, disk } = row;
        const file = await files.get(path);
        if (!file) continue;
        const { content, encoding, size, modifiedAt } = file;
        const bytes = toBytes(file);
        if (bytes.length > WORKSPACE_LIMITS.fileBytes) skip(row, TOO_LARGE);
        else steps.push({ do: 'write', path, base: disk, content, encoding, agreed: { hash: await sha256(bytes), size, modifiedAt } });
      }
      await this.#apply(steps);
    }
  }

  async #apply(steps: readonly FolderStep[]): Promise<void> {
    for (let from = 0; from < steps.length; from += MAX_FOLDER_BATCH.files)
      await this.#send(steps.slice(from, from + MAX_FOLDER_BATCH.files));
  }

  async #send(steps: FolderStep[]): Promise<void> {
    const { bridge, workspace, signal, skip } = this.#deps;
    if (steps.length === 0) return;
    const { outcomes } = await bridge.call(filesPort, 'files.apply', { workspace, steps }, { signal });
    for (const [index, { outcome, why: reason = 'it can’t be written' }] of outcomes.entries()) {
      const row = this.#rows.get(steps[index]?.path ?? '');
      if (outcome === 'refused' && row) skip(row, reason);
      else this.hasProgress = true;
    }
  }
}

const toNoteStep = ({ path, disk, record }: Pick<FileState, 'path' | 'disk' | 'record'>): FolderStep => ({
  do: 'note',
  path,
  agreed: disk !== null && record ? { hash: disk, size: record.size, modifiedAt: record.modifiedAt } : null,
});

/** Splits items into batches that fit into one call. */
function toBatches<T>(items: readonly T[], getBytes: (item: T) => number): T[][] {
  const batches: T[][] = [];
  let bytes = 0;
  for (const item of items) {
    const last = batches.at(-1);
    bytes += getBytes(item);
    if (last && last.length < MAX_FOLDER_BATCH.files && bytes <= MAX_FOLDER_BATCH.bytes) last.push(item);
    else {
      batches.push([item]);
      bytes = getBytes(item);
    }
  }
  return batches;
}

/**
 * Name for the losing version of a file: `notes/a (conflict 2026-11-22 0930).md`, with a number from the second on. A name that would be
 * too long is shortened.
 */
function toConflictName(path: string, { at, timeZone, count }: { at: number; timeZone: string; count: number }): string {
  const { folder, stem, ending } = splitPath(path);
  const tail = `${CONFLICT_MARK}${formatMinute(at, timeZone)}${count > 1 ? ` ${count}` : ''})${ending}`;
  const chars = Array.from(stem);
  const isTooLong = (): boolean => {
    const name = chars.join('') + tail;
    return folder.length + name.length > MAX_PATH_CHARS || encoder.encode(name).length > MAX_NAME_BYTES;
  };
  while (chars.length > 0 && isTooLong()) chars.pop();
  return folder + chars.join('') + tail;
}

/** Whether `copy` is named like a conflict copy of `path`. */
function isConflictCopyOf(copy: string, path: string): boolean {
  const { folder, stem, ending } = splitPath(path);
  return copy.startsWith(`${folder}${stem}${CONFLICT_MARK}`) && copy.endsWith(`)${ending}`);
}

function splitPath(path: string): { folder: string; stem: string; ending: string } {
  const slash = path.lastIndexOf('/') + 1;
  const [, stem = '', ending = ''] = /^(.+?)(\.[^.]{1,20})?$/su.exec(path.slice(slash)) ?? [];
  return { folder: path.slice(0, slash), stem, ending };
}

/** `2026-11-22 0930` */
function formatMinute(at: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en', {
    ...{ timeZone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
  });
  const { year, month, day, hour, minute } = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return `${year}-${month}-${day} ${hour}${minute}`;
}
