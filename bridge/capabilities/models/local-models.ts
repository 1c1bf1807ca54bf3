import { mkdir, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { LocalModel } from '#shared/ports/local-model.ts';
import { z } from '#shared/rpc/zod.ts';
import { getErrorCode, describeError } from '../../home-directory.ts';
import { GgufError, type GgufHeader, readGgufHeader } from '../gguf/gguf-header.ts';
import { isMlxFile, findMlxFiles, findMlxProblem } from './mlx-files.ts';

/** Maximum context size in tokens to run with, fewer than some models are trained for. */
export const MAX_CONTEXT_TOKENS = 16_384;

/** Metadata stored next to a downloaded file. */
const originSchema = z.object({
  source: z.enum(['huggingface', 'modelscope']),
  repo: z.string(),
  sha256: z.string().nullable(),
  /** Milliseconds since the Unix epoch. */
  downloadedAt: z.number(),
});

const mlxConfigSchema = z.object({ max_position_embeddings: z.number().optional() });

/** A model file on this disk. */
export interface LocalModelFile extends LocalModel {
  path: string;
  header: GgufHeader | null;
}

const SEGMENT_NAME = /^(?!\.)[\w.+-]{1,200}$/;
/** Parts of a model in several files; the first one represents it. */
const PART_NAME = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;

/** Whether a text has the form `<repo_owner>/<repo_name>/<file_name>`. */
export function isModelId(id: string): boolean {
  const segments = id.split('/');
  return segments.length === 3 && segments.every((segment) => SEGMENT_NAME.test(segment));
}

/** The models in `<home>/models`, as `<repo_owner>/<repo_name>/<file_name>`. */
export class LocalModels {
  readonly dir: string;
  readonly #headers = new Map<string, { stamp: string; header: GgufHeader | string }>();

  constructor(home: string) {
    this.dir = join(home, 'models');
  }

  /** Returns the folder of a repository's files and creates it if it is missing. */
  async getFolder(repo: string): Promise<string> {
    const dir = join(this.dir, ...repo.split('/'));
    await mkdir(dir, { recursive: true, mode: 0o700 });
    return dir;
  }

  /** Lists all models by id, including those that can't run, with the reason. */
  async list(): Promise<LocalModelFile[]> {
    const found: LocalModelFile[] = [];
    for (const owner of await listNames(this.dir)) {
      for (const repo of await listNames(join(this.dir, owner))) {
        const dir = join(this.dir, owner, repo);
        const files = await listNames(dir);
        for (const file of [...files.filter((name) => /\.gguf$/i.test(name) && isFirstPart(name)), ...findMlxFiles(files).slice(0, 1)]) {
          const id = `${owner}/${repo}/${file}`;
          const each = isModelId(id) ? await this.#readModel(id, dir, files) : undefined;
          if (each) found.push(each);
        }
      }
    }
    return found;
  }

  /** Finds a model; undefined if it does not exist. */
  async find(id: string): Promise<LocalModelFile | undefined> {
    if (!isModelId(id)) return undefined;
    const [owner = '', repo = '', file = ''] = id.split('/');
    const dir = join(this.dir, owner, repo);
    const files = await listNames(dir);
    return files.includes(file) && isFirstPart(file) ? this.#readModel(id, dir, files) : undefined;
  }

  /** Deletes a model's files. Resolves to the number of bytes freed, or null if there is no such model. */
  async remove(id: string): Promise<number | null> {
    const found = await this.find(id);
    if (!found) return null;
    const [owner = '', repo = '', file = ''] = id.split('/');
    const dir = join(this.dir, owner, repo);
    for (const part of findParts(file, await listNames(dir))) {
      await rm(join(dir, part), { force: true });
      await rm(join(dir, `${part}.json`), { force: true });
    }
    // Keeps folders with other files.
    for (const empty of [dir, join(this.dir, owner)]) await rmdir(empty).catch(() => {});
    return found.sizeBytes;
  }

  /** Deletes a repository's incomplete files. */
  async removeParts(repo: string): Promise<void> {
    const segments = repo.split('/');
    if (segments.length !== 2 || !segments.every((segment) => SEGMENT_NAME.test(segment))) return;
    const dir = join(this.dir, ...segments);
    for (const name of await listNames(dir)) if (/\.part(\.json)?$/.test(name)) await rm(join(dir, name), { force: true });
    // Keeps folders with other files.
    for (const empty of [dir, dirname(dir)]) await rmdir(empty).catch(() => {});
  }

  async #readModel(id: string, dir: string, names: readonly string[]): Promise<LocalModelFile | undefined> {
    const parts = findParts(id.split('/')[2] ?? '', names);
    const path = join(dir, parts[0] ?? '');
    const stats = await Promise.all(parts.map((part) => stat(join(dir, part)).catch(() => undefined)));
    const first = stats[0];
    // Deleted in the meantime, or a folder.
    if (!first?.isFile()) return undefined;
    const sizeBytes = stats.reduce((sum, each) => sum + (each?.size ?? 0), 0);
    const origin = originSchema.safeParse(parseJsonSafely(await readFile(`${path}.json`, 'utf8').catch(() => '')));
    const source = origin.success ? origin.data.source : null;
    if (isMlxFile(path)) {
      const mlxConfig = mlxConfigSchema.safeParse(parseJsonSafely(await readFile(join(dir, 'config.json'), 'utf8').catch(() => '')));
      const contextWindow = mlxConfig.data?.max_position_embeddings ?? null;
      const name = id.split('/')[1] ?? null;
      return { id, backend: 'mlx', sizeBytes, name, contextWindow, source, problem: findMlxProblem(names), path, header: null };
    }
    const header = await this.#getHeader(path, `${first.size} ${first.mtimeMs}`);
    const partCount = Number(PART_NAME.exec(parts[0] ?? '')?.[3] ?? 1);
    const problem =
      typeof header === 'string'
        ? header
        : parts.length < partCount
          ? `${partCount - parts.length} of ${partCount} files are missing`
          : null;
    const parsedHeader = typeof header === 'string' ? null : header;
    return {
      id,
      backend: 'gguf',
      sizeBytes,
      name: parsedHeader?.name ?? null,
      contextWindow: parsedHeader?.contextLength ? Math.min(parsedHeader.contextLength, MAX_CONTEXT_TOKENS) : null,
      source,
      problem,
      path,
      header: parsedHeader,
    };
  }

  async #getHeader(path: string, stamp: string): Promise<GgufHeader | string> {
    const cachedHeader = this.#headers.get(path);
    if (cachedHeader?.stamp === stamp) return cachedHeader.header;
    const header = await readGgufHeader(path).catch((error: unknown) =>
      error instanceof GgufError ? error.message : `the file can’t be read: ${describeError(error)}`,
    );
    this.#headers.set(path, { stamp, header });
    return header;
  }
}

const isFirstPart = (file: string): boolean => Number(PART_NAME.exec(file)?.[2] ?? 1) === 1;

/** Returns all files of a model, including its first one. */
function findParts(file: string, files: readonly string[]): string[] {
  if (isMlxFile(file)) return findMlxFiles(files);
  const [, stem, , count] = PART_NAME.exec(file) ?? [];
  if (stem === undefined) return [file];
  return files.filter((name) => PART_NAME.exec(name)?.[1] === stem && PART_NAME.exec(name)?.[3] === count).sort();
}

async function listNames(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).sort();
  } catch (error) {
    const code = getErrorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

function parseJsonSafely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
