import { RpcError } from '#shared/rpc/errors.ts';

const CACHE = 'perch-ocr';
/** The largest file of Tesseract's fast and best models has 30 MB. */
const MAX_BYTES = 64 * 1024 * 1024;
const SILENCE_MS = 30_000;

export interface LanguageDataOptions {
  caches: Pick<CacheStorage, 'open'>;
  fetch: typeof fetch;
  /** Called when bytes arrive. */
  onprogress(progress: { language: string; received: number; total: number | undefined }): void;
}

/** Address of a language's data: `{language}` is replaced by its code; without that placeholder the address is a folder. */
export const dataAddress = (dataUrl: string, language: string): string =>
  dataUrl.includes('{language}') ? dataUrl.replaceAll('{language}', language) : `${dataUrl.replace(/\/+$/, '')}/${language}.traineddata`;

/** The data of a language, downloaded once and then cached by the browser. Rejects with a message for people if it is unavailable. */
export async function loadLanguageData(
  dataUrl: string,
  language: string,
  { caches, fetch, onprogress }: LanguageDataOptions,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const address = dataAddress(dataUrl, language);
  const cache = await caches.open(CACHE);
  const cached = await cache.match(address);
  if (cached) return new Uint8Array(await cached.arrayBuffer());
  const unavailable = (why: string, cause?: unknown): RpcError =>
    new RpcError(
      'INVALID_PARAMS',
      `Language data “${language}” for reading scans couldn’t be downloaded from ${URL.parse(address)?.host ?? address}: ${why}`,
      {},
      { cause },
    );
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    const silence = new AbortController();
    const hush = (): void => silence.abort(new Error(`no data for ${SILENCE_MS / 1000} s`));
    let timer = setTimeout(hush, SILENCE_MS);
    try {
      const response = await fetch(address, { credentials: 'omit', signal: AbortSignal.any([signal, silence.signal]) });
      if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`);
      const total = Number(response.headers.get('content-length')) || undefined;
      const pieces: Uint8Array<ArrayBuffer>[] = [];
      let received = 0;
      for await (const piece of response.body) {
        clearTimeout(timer);
        timer = setTimeout(hush, SILENCE_MS);
        received += piece.length;
        if (received > MAX_BYTES) throw new Error('it is too large');
        pieces.push(piece);
        onprogress({ language, received, total });
      }
      bytes = await unpack(new Blob(pieces));
    } finally {
      clearTimeout(timer);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw unavailable(error instanceof Error ? error.message : String(error), error);
  }
  // If there is no room, it is downloaded again next time.
  await cache.put(address, new Response(bytes)).catch(() => {});
  return bytes;
}

async function unpack(packed: Blob): Promise<Uint8Array<ArrayBuffer>> {
  const [first, second] = new Uint8Array(await packed.slice(0, 2).arrayBuffer());
  if (first !== 0x1f || second !== 0x8b) return new Uint8Array(await packed.arrayBuffer());
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const piece of packed.stream().pipeThrough(new DecompressionStream('gzip'))) {
    size += piece.length;
    if (size > MAX_BYTES) throw new Error('it is too large');
    pieces.push(piece);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
