import { type FileRecord, WORKSPACE_LIMITS } from '#shared/rpc/workspace-file.ts';
import { toConflictFile } from '../../system/conflicts.ts';
import { mergeMemories } from '../../knowledge/memory/merge-memories.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { normalizeContent } from './file-content.ts';
import { mergeLines } from './merge-lines.ts';

/** Kinds of line-based files whose diverged versions can be merged. */
type MergeKind = 'memories' | 'lines';

type TextVersion = Pick<FileRecord, 'content' | 'modifiedAt'>;

/**
 * Merges two versions, independent of their order; undefined if the file is not line-based. If one side removed the file, the changed
 * version is kept, as in folder sync.
 */
export function mergeText(path: string, version: TextVersion, other: TextVersion | undefined): string | undefined {
  const kind = getMergeKind(path);
  if (!kind || !other) return kind && version.content;
  const isFirst = version.modifiedAt === other.modifiedAt ? version.content < other.content : version.modifiedAt < other.modifiedAt;
  const [earlier, later] = isFirst ? [version, other] : [other, version];
  return kind === 'memories' ? mergeMemories(earlier.content, later.content) : mergeLines(earlier.content, later.content);
}

export interface MergeCopyDeps {
  vault: Pick<Vault, 'files' | 'conflicts'>;
  /** Whether this host may still write. */
  isActive(): boolean;
}

/**
 * Merges a conflict copy into the current file and then removes the copy; a crash in between is harmless, because merging again gives the
 * same result. Identical files of any kind only lose the copy. Returns `waiting` if the winning version has not arrived yet, `left` if the
 * user has to decide, and `gone` if the copy no longer exists.
 */
export async function mergeCopy({ vault, isActive }: MergeCopyDeps, id: string): Promise<'merged' | 'waiting' | 'left' | 'gone'> {
  const copy = await vault.conflicts.get(id);
  if (!copy) return 'gone';
  const saved = toConflictFile(copy);
  if (!saved) return 'left';
  const { workspace, path } = saved;
  while (isActive()) {
    const current = await vault.files.get(workspace, path);
    const same = current?.content === saved.content && current.encoding === saved.encoding;
    if (same && current.modifiedAt === saved.modifiedAt) return 'waiting';
    if (!same && [saved, current].some((version) => version && version.encoding !== 'utf8')) return 'left';
    const text = same ? current.content : mergeText(path, saved, current);
    if (text === undefined) return 'left';
    if (text !== current?.content) {
      const content = normalizeContent(text, 'utf8');
      if (content.size > WORKSPACE_LIMITS.fileBytes) return 'left';
      // Deterministic, so that two hosts that merge the same versions write the same file.
      const modifiedAt = Math.max(saved.modifiedAt, current?.modifiedAt ?? 0) + 1;
      const file: FileRecord = { ...saved, ...content, mimeType: (current ?? saved).mimeType, modifiedAt };
      const [done] = await vault.files.replace(workspace, [{ path, base: current ?? null, file }], WORKSPACE_LIMITS);
      if (done?.outcome === 'changed') continue;
      if (done?.outcome !== 'done') return 'left';
    }
    return (await vault.conflicts.resolve(id, 'keep')) ? 'merged' : 'gone';
  }
  return 'waiting';
}

/** Kind of the workspace file at a path; undefined for other files, whose versions the user compares. */
function getMergeKind(path: string): MergeKind | undefined {
  if (path === 'MEMORY.md') return 'memories';
  return /^(?:wiki\/\.perch-wiki\/claims|\.dreams)\/[^/]+\.jsonl$/.test(path) ? 'lines' : undefined;
}
