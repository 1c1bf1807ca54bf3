import { type FileRecord, WORKSPACE_LIMITS } from '#shared/rpc/methods/workspace.ts';
import { fileOf } from '../conflicts.ts';
import { mergeMemories } from '../memory/merge-memories.ts';
import type { Vault } from '../vault.ts';
import { readContent } from './content.ts';
import { mergedKind } from './merged-paths.ts';
import { mergeLines } from './merge-lines.ts';

type Version = Pick<FileRecord, 'content' | 'modifiedAt'>;

/**
 * The text of both; undefined where the file is none of lines. Whichever is given first, it is the same. What one side has removed and the other has changed is there, as with folders.
 */
export function mergedText(path: string, one: Version, other: Version | undefined): string | undefined {
  const kind = mergedKind(path);
  if (!kind || !other) return kind && one.content;
  const isFirst = one.modifiedAt === other.modifiedAt ? one.content < other.content : one.modifiedAt < other.modifiedAt;
  const [earlier, later] = isFirst ? [one, other] : [other, one];
  return kind === 'memories' ? mergeMemories(earlier.content, later.content) : mergeLines(earlier.content, later.content);
}

export interface MergeCopyDeps {
  vault: Pick<Vault, 'files' | 'conflicts'>;
  /** Whether this host may write it still. */
  serves(): boolean;
}

/**
 * Brings what a copy of a file has into the file as it stands, and then forgets the copy, so that dying between leaves what is merged again to the same. Where both say the same
 * already, of whatever file, only that. `waiting`: what won over the copy is not here yet. `left`: it is for the person to look at. `gone`: there is no such copy any more.
 */
export async function mergeCopy({ vault, serves }: MergeCopyDeps, id: string): Promise<'merged' | 'waiting' | 'left' | 'gone'> {
  const copy = await vault.conflicts.get(id);
  if (!copy) return 'gone';
  const aside = fileOf(copy);
  if (!aside) return 'left';
  const { workspace, path } = aside;
  while (serves()) {
    const current = await vault.files.get(workspace, path);
    const same = current?.content === aside.content && current.encoding === aside.encoding;
    if (same && current.modifiedAt === aside.modifiedAt) return 'waiting';
    if (!same && [aside, current].some((version) => version && version.encoding !== 'utf8')) return 'left';
    const text = same ? current.content : mergedText(path, aside, current);
    if (text === undefined) return 'left';
    if (text !== current?.content) {
      const content = readContent(text, 'utf8');
      if (content.size > WORKSPACE_LIMITS.fileBytes) return 'left';
      // The same time wherever it is done: two hosts that merge the same write the same.
      const modifiedAt = Math.max(aside.modifiedAt, current?.modifiedAt ?? 0) + 1;
      const file: FileRecord = { ...aside, ...content, mimeType: (current ?? aside).mimeType, modifiedAt };
      const [done] = await vault.files.replace(workspace, [{ path, seen: current ?? null, file }], WORKSPACE_LIMITS);
      if (done?.outcome === 'changed') continue;
      if (done?.outcome !== 'done') return 'left';
    }
    return (await vault.conflicts.resolve(id, 'keep')) ? 'merged' : 'gone';
  }
  return 'waiting';
}
