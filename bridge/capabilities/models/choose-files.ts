import { basename } from 'node:path/posix';
import { type HubFile, HubError } from './model-hub.ts';

/** From the best to the smallest useful quantization. Anything above Q6 brings no noticeable gain. */
const QUANTIZATIONS = [
  'Q6_K',
  'Q5_K_M',
  'Q5_K_S',
  'Q5_0',
  'Q4_K_M',
  'Q4_K_S',
  'IQ4_XS',
  'IQ4_NL',
  'Q4_0',
  'Q3_K_L',
  'Q3_K_M',
  'Q3_K_S',
  'Q2_K',
];
/** Used if none of the above exists. */
const LARGE_FORMATS = ['Q8_0', 'F16', 'BF16', 'F32'];
const PART_NAME = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;

/** The files of one model in a repository, with its first part first, and their total size. */
export interface FileSelection {
  files: HubFile[];
  size: number;
}

/**
 * Selects the files to download: those that `filename` names, else the best quantization that fits into `bytes` of memory, else the
 * smallest. Throws HubError that lists the available files.
 */
export function chooseGguf(
  files: readonly HubFile[],
  { filename, bytes }: { filename?: string | undefined; bytes: number },
): FileSelection {
  const models = groupModels(files);
  const list = models.map(({ files: [first] }) => first?.path).join(', ') || 'none';
  if (filename !== undefined) {
    const requested = models.find(({ files: parts }) => parts.some(({ path }) => path === filename || basename(path) === filename));
    if (requested) return requested;
    throw new HubError(`No GGUF file "${filename}" in this repository. Available: ${list.slice(0, 1000)}`);
  }
  const ranked = models
    .filter(({ files: [first] }) => !/mmproj|imatrix/i.test(first?.path ?? ''))
    .map((model) => ({ model, rank: rankFile(model.files[0]?.path ?? '') }))
    .sort((a, b) => a.rank - b.rank || a.model.size - b.model.size);
  const fitting = ranked.find(({ model }) => model.size <= bytes)?.model;
  const smallest = ranked.map(({ model }) => model).sort((a, b) => a.size - b.size)[0];
  const chosen = fitting ?? smallest;
  if (!chosen) throw new HubError('No GGUF files in this repository. Try one whose name ends in GGUF.');
  return chosen;
}

function groupModels(files: readonly HubFile[]): FileSelection[] {
  const groups = new Map<string, HubFile[]>();
  for (const file of files.filter(({ path }) => /\.gguf$/i.test(path)).sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const [, stem, , count] = PART_NAME.exec(file.path) ?? [];
    const key = stem === undefined ? file.path : `${stem} ${count}`;
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  return [...groups.values()].map((parts) => ({ files: parts, size: parts.reduce((sum, { size }) => sum + size, 0) }));
}

function rankFile(path: string): number {
  const name = path.toUpperCase();
  const hasWord = (each: string): boolean => new RegExp(`(^|[^A-Z0-9])${each}($|[^A-Z0-9_])`).test(name);
  const good = QUANTIZATIONS.findIndex(hasWord);
  if (good >= 0) return good;
  const large = LARGE_FORMATS.findIndex(hasWord);
  return large >= 0 ? 100 + large : 50;
}
