import type { StoredBrowserModel } from '#shared/ports/browser-models-port.ts';
import { selectModelFiles, type Processor, readConfig } from './select-model-files.ts';
import { type BrowserHub, HubError } from './browser-hub.ts';
import { type ModelStore, PART_BYTES } from './model-store.ts';

/** Maximum number of attempts without progress. */
const MAX_ATTEMPTS = 4;
const RETRY_MS = 1000;
/** Time without a byte after which a download counts as broken. */
const STALL_TIMEOUT_MS = 60_000;
/** Part of the browser's quota that is left free. */
const SPARE_BYTES = 64 * 1024 * 1024;
/** Address space of WebAssembly. */
const MAX_MODEL_BYTES = 4 * 1024 ** 3;

export interface BrowserDownloadProgress {
  /** The file that is being downloaded. */
  file: string;
  /** Bytes downloaded so far, of all the model's files. */
  received: number;
  total: number;
}

export interface BrowserDownloadOptions {
  hub: BrowserHub;
  store: ModelStore;
  repo: string;
  filename?: string | undefined;
  processor: Processor;
  signal: AbortSignal;
  onprogress(progress: BrowserDownloadProgress): void;
  /** Free bytes of the browser's quota; null if unknown. */
  getFreeBytes(): Promise<number | null>;
  now(): number;
  waitMs?: number;
  silenceMs?: number;
}

/**
 * Downloads a model into the browser's storage and resolves with it. Existing files are reused, and interrupted ones continue with the
 * missing part. The model is marked as complete only once all files listed by the hub are stored. Throws a HubError.
 */
export async function downloadBrowserModel(options: BrowserDownloadOptions): Promise<StoredBrowserModel> {
  const { hub, store, repo, signal, onprogress } = options;
  const selected = selectModelFiles(await hub.files(repo, signal), options);
  const total = selected.files.reduce((sum, { size }) => sum + size, 0);
  if (total > MAX_MODEL_BYTES)
    throw new HubError(
      `${repo} is too large for a browser: ${formatGigabytes(total)}. The maximum is ${formatGigabytes(MAX_MODEL_BYTES)}.`,
    );
  const existing = await store.find(repo);
  // Another precision or version: its parts cannot be reused.
  const reusable =
    existing?.files.filter(({ path, size }) => selected.files.some((file) => file.path === path && file.size === size)) ?? [];
  if (existing && (existing.dtype !== selected.dtype || reusable.length < existing.files.length)) await store.remove(repo);
  let storedBytes = 0;
  for (const { path, size } of selected.files) storedBytes += await store.countStoredBytes(repo, path, size);
  const freeBytes = await options.getFreeBytes();
  if (freeBytes !== null && total - storedBytes + SPARE_BYTES > freeBytes)
    throw new HubError(
      `Not enough storage in this browser: ${formatGigabytes(total - storedBytes)} needed, ${formatGigabytes(freeBytes)} free.`,
    );
  let model: StoredBrowserModel = { ...selected, task: 'text-generation', contextWindow: null, keptAt: null };
  let done = 0;
  for (const file of selected.files) {
    const onReceived = (received: number): void => onprogress({ file: file.path, received: done + received, total });
    await fetchFile(options, file, onReceived);
    done += file.size;
    if (file.path !== 'config.json') continue;
    model = { ...model, ...readConfig((await (await store.readFile(model, file.path))?.text()) ?? '', repo) };
    await store.putMetadata(model);
  }
  model = { ...model, keptAt: options.now() };
  await store.putMetadata(model);
  return model;
}

async function fetchFile(
  options: BrowserDownloadOptions,
  file: StoredBrowserModel['files'][number],
  onReceived: (received: number) => void,
): Promise<void> {
  const { store, repo, signal, waitMs: retryMs = RETRY_MS } = options;
  for (let attempt = 1, previousBytes = -1; ; attempt++) {
    const storedBytes = await store.countStoredBytes(repo, file.path, file.size);
    onReceived(storedBytes);
    if (storedBytes === file.size && file.size > 0) return;
    if (storedBytes > previousBytes) attempt = 1;
    previousBytes = storedBytes;
    try {
      await fetchRest(options, file, storedBytes, onReceived);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HubError && error.isTransient) || attempt >= MAX_ATTEMPTS) throw error;
      await wait(retryMs, signal);
    }
  }
}

/** Downloads the missing rest of a file, and stores it part by part. */
async function fetchRest(
  { hub, store, repo, signal, silenceMs: stallTimeoutMs = STALL_TIMEOUT_MS }: BrowserDownloadOptions,
  { path, size }: StoredBrowserModel['files'][number],
  from: number,
  onReceived: (received: number) => void,
): Promise<void> {
  const stall = new AbortController();
  const abortStalled = (): void => stall.abort(new Error(`no data for ${stallTimeoutMs / 1000} s`));
  let timer = setTimeout(abortStalled, stallTimeoutMs);
  try {
    const { start, body } = await hub.open(repo, path, from, AbortSignal.any([signal, stall.signal]));
    let offset = start;
    const part = new Uint8Array(Math.min(PART_BYTES, Math.max(1, size - from)));
    let filled = 0;
    let next = from;
    for await (const piece of body) {
      clearTimeout(timer);
      timer = setTimeout(abortStalled, stallTimeoutMs);
      if (offset + piece.length > size) throw new HubError(`${hub.base} sent more than the ${size} bytes of ${path}.`);
      // A hub that ignores the range repeats bytes that are already stored.
      let remaining = piece.subarray(Math.min(piece.length, Math.max(0, from - offset)));
      offset += piece.length;
      while (remaining.length > 0) {
        const slice = remaining.subarray(0, Math.min(remaining.length, PART_BYTES - filled));
        part.set(slice, filled);
        filled += slice.length;
        remaining = remaining.subarray(slice.length);
        if (filled < PART_BYTES) continue;
        await storePart(store, repo, path, next, part);
        next += filled;
        filled = 0;
      }
      onReceived(Math.max(from, offset));
    }
    if (offset < size)
      throw new HubError(`${hub.base} closed the connection after ${offset} of ${size} bytes of ${path}.`, { isTransient: true });
    if (filled > 0 || size === 0) await storePart(store, repo, path, next, part.subarray(0, filled));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HubError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new HubError(`The download of ${path} from ${hub.base} was interrupted (${reason}).`, { cause: error, isTransient: true });
  } finally {
    clearTimeout(timer);
  }
}

async function storePart(store: ModelStore, repo: string, path: string, from: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  await store.put(repo, path, from, bytes).catch((cause: unknown) => {
    throw new HubError(
      cause instanceof Error && cause.name === 'QuotaExceededError'
        ? 'This browser is out of storage.'
        : `This browser couldn’t store ${path}.`,
      { cause },
    );
  });
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason as Error)), { once: true });
  });
}

const formatGigabytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GB`;
