import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { basename } from 'node:path/posix';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from '#shared/rpc/zod.ts';
import { describeError } from '../../home-directory.ts';
import { chooseGguf } from './choose-files.ts';
import { discardBody, type ModelHub, HubError, type HubFile } from './model-hub.ts';
import { isModelId, type LocalModels } from './local-models.ts';
import { chooseMlx } from './mlx-files.ts';

/** Maximum number of attempts without progress. */
const MAX_ATTEMPTS = 4;
const RETRY_MS = 1000;
/** Disk space to leave free. */
const SPARE_BYTES = 256 * 1024 * 1024;
/** Maximum share of the machine's memory for a model. */
const MAX_MEMORY_SHARE = 0.7;

const partSchema = z.object({ size: z.number(), sha256: z.string().nullable() });

export interface DownloadProgress {
  /** File being downloaded; null before the first. */
  file: string | null;
  /** Bytes downloaded of all the model's files. */
  received: number;
  total: number;
}

export interface ModelDownloadOptions {
  hub: ModelHub;
  models: LocalModels;
  repo: string;
  filename?: string | undefined;
  /** Runtime for the model. Default: `gguf`. */
  backend?: 'gguf' | 'mlx' | undefined;
  signal: AbortSignal;
  onprogress?: (progress: DownloadProgress) => void;
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
export async function downloadFiles(options: ModelDownloadOptions): Promise<{ id: string; sizeBytes: number; fresh: boolean }> {
  const { hub, models, repo, filename, signal, memory, onprogress = () => {}, freeBytes = getFreeBytes } = options;
  const listed = await hub.listFiles(repo, signal);
  const { files, size } =
    options.backend === 'mlx' ? chooseMlx(listed, filename) : chooseGguf(listed, { filename, bytes: memory * MAX_MEMORY_SHARE });
  const id = `${repo}/${basename(files[0]?.path ?? '')}`;
  if (!isModelId(id)) throw new HubError(`The file name "${basename(files[0]?.path ?? '')}" is not supported`);
  const dir = await models.getFolder(repo);
  const targets = files.map((file) => ({ file, path: join(dir, basename(file.path)) }));
  const states = await Promise.all(
    targets.map(async (target) => ({
      ...target,
      downloadedSize: await getSize(target.path),
      partSize: await getSize(`${target.path}.part`),
    })),
  );
  const missing = states.filter(({ file, downloadedSize }) => downloadedSize !== file.size);
  const needed = missing.reduce((sum, { file, partSize }) => sum + Math.max(0, file.size - partSize), 0);
  const free = await freeBytes(dir);
  if (needed + SPARE_BYTES > free)
    throw new HubError(`Not enough disk space: ${formatGigabytes(needed)} needed, ${formatGigabytes(free)} free`);
  let receivedBytes = size - missing.reduce((sum, { file }) => sum + file.size, 0);
  onprogress({ file: null, received: receivedBytes, total: size });
  for (const { file, path } of missing) {
    const before = receivedBytes;
    await fetchFile(options, file, path, (received) => onprogress({ file: basename(file.path), received: before + received, total: size }));
    const origin = { source: hub.source, repo, sha256: file.sha256, downloadedAt: Date.now() };
    await writeFile(`${path}.json`, `${JSON.stringify(origin)}\n`);
    receivedBytes += file.size;
  }
  return { id, sizeBytes: size, fresh: missing.length > 0 };
}

async function fetchFile(options: ModelDownloadOptions, file: HubFile, path: string, received: (bytes: number) => void): Promise<void> {
  const { signal, waitMs = RETRY_MS } = options;
  const part = `${path}.part`;
  await preparePart(part, file);
  for (let attempt = 1, before = await getSize(part); ; attempt++) {
    try {
      await fetchRemaining(options, file, part, received);
      break;
    } catch (error) {
      signal.throwIfAborted();
      const now = await getSize(part);
      if (now > before) attempt = 0;
      before = now;
      if (!(error instanceof InterruptedError) || attempt >= MAX_ATTEMPTS) throw error;
      await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
  await rename(part, path);
  await rm(`${part}.json`, { force: true });
}

/** Discards the part of a file that has changed since. */
async function preparePart(part: string, { size, sha256 }: HubFile): Promise<void> {
  const savedPart = partSchema.safeParse(parseJsonSafely(await readFile(`${part}.json`, 'utf8').catch(() => '')));
  if (!savedPart.success || savedPart.data.size !== size || savedPart.data.sha256 !== sha256 || (await getSize(part)) > size)
    await rm(part, { force: true });
  await writeFile(`${part}.json`, JSON.stringify({ size, sha256 }));
}

class InterruptedError extends HubError {}

/** Downloads the rest of a part, and verifies length and checksum. */
async function fetchRemaining(
  { hub, repo, signal }: ModelDownloadOptions,
  file: HubFile,
  part: string,
  received: (bytes: number) => void,
): Promise<void> {
  const name = basename(file.path);
  let at = await getSize(part);
  const hash = createHash('sha256');
  if (at > 0) await updateHashFromFile(hash, part, signal);
  let contentHash = hash;
  if (at < file.size) {
    const { start, body } = await hub.openFile(repo, file.path, at, signal).catch((error: unknown) => {
      throw error instanceof HubError && /Couldn’t reach|status 5/.test(error.message)
        ? new InterruptedError(error.message, { cause: error })
        : error;
    });
    if (start < at) {
      at = 0;
      contentHash = createHash('sha256');
    }
    const out = await open(part, at === 0 ? 'w' : 'a', 0o600);
    try {
      for await (const piece of body as AsyncIterable<Buffer>) {
        at += piece.length;
        if (at > file.size) throw new HubError(`${hub.base} sent more than the ${file.size} bytes of ${name}`);
        await out.writeFile(piece);
        contentHash.update(piece);
        received(at);
      }
      await out.sync();
    } catch (error) {
      discardBody(body);
      signal.throwIfAborted();
      if (error instanceof HubError) throw await discardPart(part, error);
      if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') throw new HubError('The disk is full', { cause: error });
      throw new InterruptedError(
        `The connection to ${hub.base} was lost after ${at} of ${file.size} bytes of ${name} (${describeError(error)})`,
        {
          cause: error,
        },
      );
    } finally {
      await out.close();
    }
  }
  if (at < file.size) throw new InterruptedError(`${hub.base} sent only ${at} of ${file.size} bytes of ${name}`);
  if (file.sha256 !== null && contentHash.digest('hex') !== file.sha256)
    throw await discardPart(part, new HubError(`The checksum of ${name} doesn’t match the one from ${hub.base}`));
}

/** Discards data that can't be correct instead of resuming from it. */
async function discardPart(part: string, error: HubError): Promise<HubError> {
  await rm(part, { force: true });
  await rm(`${part}.json`, { force: true });
  return error;
}

async function updateHashFromFile(hash: Hash, path: string, signal: AbortSignal): Promise<void> {
  for await (const piece of createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    hash.update(piece);
  }
}

const getSize = async (path: string): Promise<number> => (await stat(path).catch(() => undefined))?.size ?? 0;

async function getFreeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}

const formatGigabytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GB`;

function parseJsonSafely(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
