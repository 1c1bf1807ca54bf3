import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { basename } from 'node:path/posix';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from '#shared/rpc/zod.ts';
import { reasonOf } from '../../home.ts';
import { choose } from './choice.ts';
import { discard, type Hub, HubError, type HubFile } from './hub.ts';
import { isModelId, type LocalModels } from './local-models.ts';
import { chooseMlx } from './mlx-files.ts';

/** Maximum number of attempts without progress. */
const TRIES = 4;
const WAIT_MS = 1000;
/** Disk space to leave free. */
const SPARE_BYTES = 256 * 1024 * 1024;
/** Maximum share of the machine's memory for a model. */
const SHARE = 0.7;

const partFile = z.object({ size: z.number(), sha256: z.string().nullable() });

export interface Progress {
  /** File being downloaded; null before the first. */
  file: string | null;
  /** Bytes downloaded of all the model's files. */
  received: number;
  total: number;
}

export interface DownloadOptions {
  hub: Hub;
  models: LocalModels;
  repo: string;
  filename?: string | undefined;
  /** Runtime for the model. Default: `gguf`. */
  backend?: 'gguf' | 'mlx' | undefined;
  signal: AbortSignal;
  onprogress?: (progress: Progress) => void;
  /** Bytes of memory of this machine. */
  memory: number;
  /** Returns the free bytes of a folder's disk. */
  freeBytes?: (dir: string) => Promise<number>;
  waitMs?: number;
}

/**
 * Downloads a model's files to the folder of its repository and resolves to its id. Keeps existing files and resumes interrupted ones from
 * `<file>.part`. A file gets its name only once its length and checksum match the hub's. Throws HubError.
 */
export async function download(options: DownloadOptions): Promise<{ id: string; sizeBytes: number; fresh: boolean }> {
  const { hub, models, repo, filename, signal, memory, onprogress = () => {}, freeBytes = freeIn } = options;
  const listed = await hub.files(repo, signal);
  const { files, size } = options.backend === 'mlx' ? chooseMlx(listed, filename) : choose(listed, { filename, bytes: memory * SHARE });
  const id = `${repo}/${basename(files[0]?.path ?? '')}`;
  if (!isModelId(id)) throw new HubError(`The file name "${basename(files[0]?.path ?? '')}" is not supported`);
  const dir = await models.folder(repo);
  const places = files.map((file) => ({ file, path: join(dir, basename(file.path)) }));
  const here = await Promise.all(
    places.map(async (place) => ({ ...place, there: await sizeOf(place.path), part: await sizeOf(`${place.path}.part`) })),
  );
  const missing = here.filter(({ file, there }) => there !== file.size);
  const needed = missing.reduce((sum, { file, part }) => sum + Math.max(0, file.size - part), 0);
  const free = await freeBytes(dir);
  if (needed + SPARE_BYTES > free) throw new HubError(`Not enough disk space: ${text(needed)} needed, ${text(free)} free`);
  let done = size - missing.reduce((sum, { file }) => sum + file.size, 0);
  onprogress({ file: null, received: done, total: size });
  for (const { file, path } of missing) {
    const before = done;
    await fetchFile(options, file, path, (received) => onprogress({ file: basename(file.path), received: before + received, total: size }));
    const origin = { source: hub.source, repo, sha256: file.sha256, downloadedAt: Date.now() };
    await writeFile(`${path}.json`, `${JSON.stringify(origin)}\n`);
    done += file.size;
  }
  return { id, sizeBytes: size, fresh: missing.length > 0 };
}

async function fetchFile(options: DownloadOptions, file: HubFile, path: string, received: (bytes: number) => void): Promise<void> {
  const { signal, waitMs = WAIT_MS } = options;
  const part = `${path}.part`;
  await keepPart(part, file);
  for (let tries = 1, before = await sizeOf(part); ; tries++) {
    try {
      await fetchRest(options, file, part, received);
      break;
    } catch (error) {
      signal.throwIfAborted();
      const now = await sizeOf(part);
      if (now > before) tries = 0;
      before = now;
      if (!(error instanceof BrokenOff) || tries >= TRIES) throw error;
      await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
  await rename(part, path);
  await rm(`${part}.json`, { force: true });
}

/** Discards the part of a file that has changed since. */
async function keepPart(part: string, { size, sha256 }: HubFile): Promise<void> {
  const known = partFile.safeParse(jsonOf(await readFile(`${part}.json`, 'utf8').catch(() => '')));
  if (!known.success || known.data.size !== size || known.data.sha256 !== sha256 || (await sizeOf(part)) > size)
    await rm(part, { force: true });
  await writeFile(`${part}.json`, JSON.stringify({ size, sha256 }));
}

class BrokenOff extends HubError {}

/** Downloads the rest of a part, and verifies length and checksum. */
async function fetchRest(
  { hub, repo, signal }: DownloadOptions,
  file: HubFile,
  part: string,
  received: (bytes: number) => void,
): Promise<void> {
  const name = basename(file.path);
  let at = await sizeOf(part);
  const hash = createHash('sha256');
  if (at > 0) await hashInto(hash, part, signal);
  let whole = hash;
  if (at < file.size) {
    const { start, body } = await hub.open(repo, file.path, at, signal).catch((error: unknown) => {
      throw error instanceof HubError && /Couldn’t reach|status 5/.test(error.message)
        ? new BrokenOff(error.message, { cause: error })
        : error;
    });
    if (start < at) {
      at = 0;
      whole = createHash('sha256');
    }
    const out = await open(part, at === 0 ? 'w' : 'a', 0o600);
    try {
      for await (const piece of body as AsyncIterable<Buffer>) {
        at += piece.length;
        if (at > file.size) throw new HubError(`${hub.base} sent more than the ${file.size} bytes of ${name}`);
        await out.writeFile(piece);
        whole.update(piece);
        received(at);
      }
      await out.sync();
    } catch (error) {
      discard(body);
      signal.throwIfAborted();
      if (error instanceof HubError) throw await dropped(part, error);
      if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') throw new HubError('The disk is full', { cause: error });
      throw new BrokenOff(`The connection to ${hub.base} was lost after ${at} of ${file.size} bytes of ${name} (${reasonOf(error)})`, {
        cause: error,
      });
    } finally {
      await out.close();
    }
  }
  if (at < file.size) throw new BrokenOff(`${hub.base} sent only ${at} of ${file.size} bytes of ${name}`);
  if (file.sha256 !== null && whole.digest('hex') !== file.sha256)
    throw await dropped(part, new HubError(`The checksum of ${name} doesn’t match the one from ${hub.base}`));
}

/** Discards data that can't be correct instead of resuming from it. */
async function dropped(part: string, error: HubError): Promise<HubError> {
  await rm(part, { force: true });
  await rm(`${part}.json`, { force: true });
  return error;
}

async function hashInto(hash: Hash, path: string, signal: AbortSignal): Promise<void> {
  for await (const piece of createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    hash.update(piece);
  }
}

const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => undefined))?.size ?? 0;

async function freeIn(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}

const text = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GB`;

function jsonOf(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
