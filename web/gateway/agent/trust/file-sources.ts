import type { FileRecord } from '#shared/rpc/workspace-file.ts';
import { LONG_TERM_FILE } from '../../knowledge/memory/layout.ts';
import { toMemoryId } from '../../knowledge/memory/index/index-entry.ts';
import { parseMemories } from '../../knowledge/memory/long-term.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { ContentLabels } from './content-labels.ts';
import { mergeSources } from './content-sources.ts';

type FileText = Pick<FileRecord, 'content' | 'encoding'>;

/** Ids of the memories in a file with the form of `MEMORY.md`. */
export const getMemoryIds = ({ content, encoding }: FileText): Set<string> =>
  new Set(
    encoding === 'utf8' ? parseMemories(content).flatMap((block) => (block.kind === 'memory' ? [toMemoryId(block.memory.text)] : [])) : [],
  );

/** Outside sources of a file: those of its label, and of labelled memories in it, since `MEMORY.md` and its copies have none of their own. */
export async function getFileSources(
  labels: Pick<ContentLabels, 'getSources' | 'list'>,
  workspace: string,
  path: string,
  file: FileText | undefined,
): Promise<string[]> {
  const own = await labels.getSources('file', `${workspace}/${path}`);
  if (!file || !path.toLowerCase().endsWith('.md')) return [...own];
  const labelled = await labels.list('memory', `${workspace}/`);
  const ids = labelled.size === 0 ? [] : [...getMemoryIds(file)];
  return mergeSources(own, ...ids.map((id) => labelled.get(`${workspace}/${id}`)));
}

interface FileLabelsDeps {
  vault: { files: Pick<Vault['files'], 'get' | 'list'> };
  labels: Pick<ContentLabels, 'add' | 'list'>;
}

/**
 * Labels the memories that a write adds to `MEMORY.md`; does nothing for other files. Call it before the write. Recall and dreaming read
 * the labels of memories, not that of the file.
 */
export async function labelNewMemories(
  { vault, labels }: FileLabelsDeps,
  workspace: string,
  file: FileText & { path: string },
  sources: readonly string[],
): Promise<void> {
  if (sources.length === 0 || file.path !== LONG_TERM_FILE) return;
  const before = await vault.files.get(workspace, LONG_TERM_FILE);
  const known = before ? getMemoryIds(before) : new Set<string>();
  for (const id of getMemoryIds(file)) if (!known.has(id)) await labels.add('memory', `${workspace}/${id}`, sources);
}

/**
 * Finds files that repeat a labelled file of their workspace, such as one that was renamed on disk. Resolves with the sources of the
 * labels, by path.
 */
export async function findCopies(
  { vault, labels }: FileLabelsDeps,
  workspace: string,
  files: readonly (FileText & { path: string; size: number })[],
): Promise<Map<string, string[]>> {
  const labelled = await labels.list('file', `${workspace}/`);
  const sizes = new Set(labelled.size === 0 ? [] : files.map(({ size }) => size).filter((size) => size > 0));
  const copies = new Map<string, string[]>();
  if (sizes.size === 0) return copies;
  for (const { path, size } of await vault.files.list(workspace, '')) {
    const sources = labelled.get(`${workspace}/${path}`);
    const original = sources && sizes.has(size) ? await vault.files.get(workspace, path) : undefined;
    if (!original) continue;
    for (const file of files) {
      if (file.path !== path && file.content === original.content && file.encoding === original.encoding)
        copies.set(file.path, mergeSources(copies.get(file.path), sources));
    }
  }
  return copies;
}
