import { RpcError } from '#shared/rpc/rpc-error.ts';

const CACHE_NAME = 'perch-ocr';
/** The largest file of Tesseract's fast and best models has 30 MB. */
const MAX_BYTES = 64 * 1024 * 1024;
const STALL_TIMEOUT_MS = 30_000;

export interface LanguageDataOptions {
  caches: Pick<CacheStorage, 'open'>;
  fetch: typeof fetch;
  /** Called when bytes arrive. */
  onprogress(progress: { language: string; received: number; total: number | undefined }): void;
}

/** Address of a language's data: `{language}` is replaced by its code; without that placeholder the address is a folder. */
export const toLanguageDataUrl = (dataUrl: string, language: string): string =>
  dataUrl.includes('{language}') ? dataUrl.replaceAll('{language}', language) : `${dataUrl.replace(/\/+$/, '')}/${language}.traineddata`;

/** The data of a language, downloaded once and then cached by the browser. Rejects with a message for people if it is unavailable. */
export async function loadLanguageData(
  dataUrl: string,
  language: string,
  { caches, fetch, onprogress }: LanguageDataOptions,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const url = toLanguageDataUrl(dataUrl, language);
  const cache = await caches.open(CACHE_NAME);
  const cached = await cache.match(url);
  if (cached) return new Uint8Array(await cached.arrayBuffer());
  const createUnavailableError = (reason: string, cause?: unknown): RpcError =>
    new RpcError(
      'INVALID_PARAMS',
      `Language data “${language}” for reading scans couldn’t be downloaded from ${URL.parse(url)?.host ?? url}: ${reason}`,
      {},
      { cause },
    );
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    const stall = new AbortController();
    const abortStalled = (): void => stall.abort(new Error(`no data for ${STALL_TIMEOUT_MS / 1000} s`));
    let timer = setTimeout(abortStalled, STALL_TIMEOUT_MS);
    try {
      const response = await fetch(url, { credentials: 'omit', signal: AbortSignal.any([signal, stall.signal]) });
      if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`);
      const total = Number(response.headers.get('content-length')) || undefined;
      const pieces: Uint8Array<ArrayBuffer>[] = [];
      let received = 0;
      for await (const piece of response.body) {
        clearTimeout(timer);
        timer = setTimeout(abortStalled, STALL_TIMEOUT_MS);
        received += piece.length;
        if (received > MAX_BYTES) throw new Error('it is too large');
        pieces.push(piece);
        onprogress({ language, received, total });
      }
      bytes = await decompress(new Blob(pieces));
    } finally {
      clearTimeout(timer);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw createUnavailableError(error instanceof Error ? error.message : String(error), error);
  }
  // If there is no room, it is downloaded again next time.
  await cache.put(url, new Response(bytes)).catch(() => {});
  return bytes;
}

async function decompress(compressed: Blob): Promise<Uint8Array<ArrayBuffer>> {
  const [first, second] = new Uint8Array(await compressed.slice(0, 2).arrayBuffer());
  if (first !== 0x1f || second !== 0x8b) return new Uint8Array(await compressed.arrayBuffer());
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const piece of compressed.stream().pipeThrough(new DecompressionStream('gzip'))) {
    size += piece.length;
    if (size > MAX_BYTES) throw new Error('it is too large');
    pieces.push(piece);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
