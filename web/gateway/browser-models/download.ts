import type { KeptModel } from '#shared/ports/browser-models.ts';
import { choose, type Processor, readConfig } from './choice.ts';
import { type BrowserHub, HubError } from './hub.ts';
import { type KeptModels, PART_BYTES } from './kept-models.ts';

/** Maximum number of attempts without progress. */
const TRIES = 4;
const WAIT_MS = 1000;
/** Time without a byte after which a download counts as broken. */
const SILENCE_MS = 60_000;
/** Part of the browser's quota that is left free. */
const SPARE_BYTES = 64 * 1024 * 1024;
/** Address space of WebAssembly. */
const MOST_BYTES = 4 * 1024 ** 3;

export interface BrowserProgress {
  /** The file that is being downloaded. */
  file: string;
  /** Bytes downloaded so far, of all the model's files. */
  received: number;
  total: number;
}

export interface BrowserDownload {
  hub: BrowserHub;
  kept: KeptModels;
  repo: string;
  filename?: string | undefined;
  processor: Processor;
  signal: AbortSignal;
  onprogress(progress: BrowserProgress): void;
  /** Free bytes of the browser's quota; null if unknown. */
  free(): Promise<number | null>;
  now(): number;
  waitMs?: number;
  silenceMs?: number;
}

/**
 * Downloads a model into the browser's storage and resolves with it. Existing files are reused, and interrupted ones continue with the
 * missing part. The model is marked as complete only once all files listed by the hub are stored. Throws a HubError.
 */
export async function downloadToBrowser(options: BrowserDownload): Promise<KeptModel> {
  const { hub, kept, repo, signal, onprogress } = options;
  const chosen = choose(await hub.files(repo, signal), options);
  const total = chosen.files.reduce((sum, { size }) => sum + size, 0);
  if (total > MOST_BYTES)
    throw new HubError(`${repo} is too large for a browser: ${sizeText(total)}. The maximum is ${sizeText(MOST_BYTES)}.`);
  const before = await kept.find(repo);
  // Another precision or version: its parts cannot be reused.
  const same = before?.files.filter(({ path, size }) => chosen.files.some((file) => file.path === path && file.size === size)) ?? [];
  if (before && (before.dtype !== chosen.dtype || same.length < before.files.length)) await kept.remove(repo);
  let here = 0;
  for (const { path, size } of chosen.files) here += await kept.bytesOf(repo, path, size);
  const free = await options.free();
  if (free !== null && total - here + SPARE_BYTES > free)
    throw new HubError(`Not enough storage in this browser: ${sizeText(total - here)} needed, ${sizeText(free)} free.`);
  let model: KeptModel = { ...chosen, task: 'text-generation', contextWindow: null, keptAt: null };
  let done = 0;
  for (const file of chosen.files) {
    const told = (received: number): void => onprogress({ file: file.path, received: done + received, total });
    await fetchFile(options, file, told);
    done += file.size;
    if (file.path !== 'config.json') continue;
    model = { ...model, ...readConfig((await (await kept.read(model, file.path))?.text()) ?? '', repo) };
    await kept.note(model);
  }
  model = { ...model, keptAt: options.now() };
  await kept.note(model);
  return model;
}

async function fetchFile(options: BrowserDownload, file: KeptModel['files'][number], told: (received: number) => void): Promise<void> {
  const { kept, repo, signal, waitMs = WAIT_MS } = options;
  for (let tries = 1, before = -1; ; tries++) {
    const at = await kept.bytesOf(repo, file.path, file.size);
    told(at);
    if (at === file.size && file.size > 0) return;
    if (at > before) tries = 1;
    before = at;
    try {
      await fetchRest(options, file, at, told);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HubError && error.passing) || tries >= TRIES) throw error;
      await waited(waitMs, signal);
    }
  }
}

/** Downloads the missing rest of a file, and stores it part by part. */
async function fetchRest(
  { hub, kept, repo, signal, silenceMs = SILENCE_MS }: BrowserDownload,
  { path, size }: KeptModel['files'][number],
  from: number,
  told: (received: number) => void,
): Promise<void> {
  const silence = new AbortController();
  const hush = (): void => silence.abort(new Error(`no data for ${silenceMs / 1000} s`));
  let timer = setTimeout(hush, silenceMs);
  try {
    const { start, body } = await hub.open(repo, path, from, AbortSignal.any([signal, silence.signal]));
    let at = start;
    const part = new Uint8Array(Math.min(PART_BYTES, Math.max(1, size - from)));
    let filled = 0;
    let next = from;
    for await (const piece of body) {
      clearTimeout(timer);
      timer = setTimeout(hush, silenceMs);
      if (at + piece.length > size) throw new HubError(`${hub.base} sent more than the ${size} bytes of ${path}.`);
      // A hub that ignores the range repeats bytes that are already stored.
      let rest = piece.subarray(Math.min(piece.length, Math.max(0, from - at)));
      at += piece.length;
      while (rest.length > 0) {
        const taken = rest.subarray(0, Math.min(rest.length, PART_BYTES - filled));
        part.set(taken, filled);
        filled += taken.length;
        rest = rest.subarray(taken.length);
        if (filled < PART_BYTES) continue;
        await keep(kept, repo, path, next, part);
        next += filled;
        filled = 0;
      }
      told(Math.max(from, at));
    }
    if (at < size) throw new HubError(`${hub.base} closed the connection after ${at} of ${size} bytes of ${path}.`, { passing: true });
    if (filled > 0 || size === 0) await keep(kept, repo, path, next, part.subarray(0, filled));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HubError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new HubError(`The download of ${path} from ${hub.base} was interrupted (${why}).`, { cause: error, passing: true });
  } finally {
    clearTimeout(timer);
  }
}

async function keep(kept: KeptModels, repo: string, path: string, from: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  await kept.put(repo, path, from, bytes).catch((cause: unknown) => {
    throw new HubError(
      cause instanceof Error && cause.name === 'QuotaExceededError'
        ? 'This browser is out of storage.'
        : `This browser couldn’t store ${path}.`,
      { cause },
    );
  });
}

function waited(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason as Error)), { once: true });
  });
}

const sizeText = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GB`;
