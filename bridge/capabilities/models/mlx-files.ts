import { basename } from 'node:path/posix';
import type { FileSelection } from './choose-files.ts';
import { type HubFile, HubError } from './model-hub.ts';

/** Weights in several files; the first one represents the model. */
const SHARD_NAME = /^(.*)-(\d{5})-of-(\d{5})\.safetensors$/i;
/** Other files that MLX reads. */
const METADATA_NAME = /^[\w.-]+\.(json|jinja|model|txt|tiktoken)$/i;

/** Whether an id or file name belongs to an MLX model. */
export const isMlxFile = (name: string): boolean => /\.safetensors$/i.test(name);

/** Selects the files of a repository that MLX needs: all weights, first one first, and the files that describe them. Throws HubError. */
export function chooseMlx(files: readonly HubFile[], filename: string | undefined): FileSelection {
  if (filename !== undefined) throw new HubError('MLX models are downloaded as a whole. Remove the file name.');
  const topLevelFiles = files.filter(({ path }) => !path.includes('/'));
  const weights = topLevelFiles.filter(({ path }) => isMlxFile(path)).sort((a, b) => (a.path < b.path ? -1 : 1));
  if (weights.length === 0 || !topLevelFiles.some(({ path }) => path === 'config.json'))
    throw new HubError('No MLX weights in this repository. Try one from mlx-community.');
  const chosen = [...weights, ...topLevelFiles.filter(({ path }) => METADATA_NAME.test(path))];
  return { files: chosen, size: chosen.reduce((sum, { size }) => sum + size, 0) };
}

/** Returns the files of an MLX model in a folder, first weights first. Empty if there is none. */
export function findMlxFiles(names: readonly string[]): string[] {
  const weights = names.filter(isMlxFile).sort();
  if (weights.length === 0 || !names.includes('config.json')) return [];
  // Skips the metadata of downloads, `<file>.json`, which tells the source of each file.
  const metadataNames = names.filter(
    (name) => METADATA_NAME.test(name) && !(name.endsWith('.json') && names.includes(name.slice(0, -'.json'.length))),
  );
  return [...weights, ...metadataNames];
}

/** Why an MLX model in a folder is incomplete; null if its file names show nothing missing. */
export function findMlxProblem(names: readonly string[]): string | null {
  if (names.some((name) => name.endsWith('.part'))) return 'the download is incomplete';
  const [first = ''] = names.filter(isMlxFile).sort();
  const expected = Number(SHARD_NAME.exec(basename(first))?.[3] ?? 1);
  const present = names.filter(isMlxFile).length;
  return present < expected ? `${expected - present} of ${expected} files are missing` : null;
}
