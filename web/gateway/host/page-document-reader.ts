import type { PageWorkerProvider } from '#shared/ports/host-api.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import {
  type DocumentPassages,
  type DocumentReader,
  type DocumentRequest,
  type DocumentText,
  type PassageRequest,
  type ReadProgress,
  createUnreadableError,
} from '../documents/document-reader.ts';
import { inlineDocumentReader } from '../documents/inline-document-reader.ts';
import type { DocumentResponse, DocumentWorkerMessage, DocumentWorkerRequest } from '../documents/document-response.ts';
import type { PageWorkers } from './page-workers.ts';

/** In milliseconds. A frozen page does not respond: the next one is asked. */
const START_TIMEOUT_MS = 5_000;
const READ_TIMEOUT_MS = 60_000;
/** Time limit for a worker that reports progress, such as on a scan of many pages. */
const MAX_READ_MS = 600_000;
/** Time without requests after which a worker is ended to free its memory. */
const IDLE_MS = 60_000;

interface WorkerRequest {
  /** Name of the file. */
  name: string;
  message: DocumentWorkerRequest;
  onProgress?: ((progress: ReadProgress) => void) | undefined;
}

interface DocumentWorker {
  page: string;
  factory: PageWorkerProvider;
  port: MessagePort;
}

/**
 * Reads documents in workers started by pages: a SharedWorker cannot start one, and parsing a file in the gateway's own worker would block
 * everything else, forever if the file is malicious. One file at a time. If no page can start a worker, the gateway's own worker reads the
 * file.
 */
export class PageDocumentReader implements DocumentReader {
  readonly #pages: PageWorkers;
  readonly #closeListeners = new Map<string, () => void>();
  readonly #fallback: DocumentReader;
  #worker: DocumentWorker | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(pages: PageWorkers, fallback: DocumentReader = inlineDocumentReader) {
    this.#pages = pages;
    this.#fallback = fallback;
    pages.onRemoved = (page) => {
      if (this.#worker?.page === page) this.#worker = undefined;
      this.#closeListeners.get(page)?.();
    };
  }

  read(request: DocumentRequest, signal: AbortSignal): Promise<DocumentText> {
    return this.#enqueue(async () => {
      const response = await this.#requestFromPages({ name: request.name, message: request }, signal);
      return response && 'text' in response ? response.text : this.#fallback.read(request, signal);
    });
  }

  readPassages(request: PassageRequest, signal: AbortSignal, onProgress?: (progress: ReadProgress) => void): Promise<DocumentPassages> {
    return this.#enqueue(async () => {
      const response = await this.#requestFromPages({ name: request.name, message: { split: request }, onProgress }, signal);
      return response && 'passages' in response ? response.passages : this.#fallback.readPassages(request, signal, onProgress);
    });
  }

  #enqueue<T>(read: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(async () => {
      clearTimeout(this.#idleTimer);
      try {
        return await read();
      } finally {
        this.#idleTimer = setTimeout(() => this.#stop(), IDLE_MS);
      }
    });
    this.#queue = result.catch(() => {});
    return result;
  }

  /** Response of a page's worker; undefined if no page can start one. Throws if the file can't be read. */
  async #requestFromPages(request: WorkerRequest, signal: AbortSignal): Promise<DocumentResponse | undefined> {
    let hasDied = false;
    for (const [page, factory] of this.#pages.newestFirst()) {
      signal.throwIfAborted();
      const answer = await this.#readInPage(page, factory, request, signal);
      if (answer === 'died') {
        // The page may have been closed, or crashed by the file: such a file is never read where it could crash the gateway.
        if (hasDied) break;
        hasDied = true;
        continue;
      }
      if (answer && ('text' in answer || 'passages' in answer)) return answer;
      if (answer && 'refused' in answer) throw new RpcError(answer.refused.code, answer.refused.message);
    }
    signal.throwIfAborted();
    if (hasDied) throw createUnreadableError(request.name, 'couldn’t be read because the tab reading it was closed. Try again');
    return undefined;
  }

  /** Response of a page's worker; undefined if the page is gone, frozen, or cannot start one. `hasDied`: whether it ended while reading. */
  async #readInPage(
    page: string,
    factory: PageWorkerProvider,
    { name, message, onProgress }: WorkerRequest,
    signal: AbortSignal,
  ): Promise<DocumentResponse | 'died' | undefined> {
    const end = Promise.withResolvers<'gone' | 'aborted' | 'late'>();
    const onabort = (): void => end.resolve('aborted');
    this.#closeListeners.set(page, () => end.resolve('gone'));
    signal.addEventListener('abort', onabort);
    let timer = setTimeout(() => end.resolve('late'), START_TIMEOUT_MS);
    try {
      const started = await Promise.race([this.#getWorker(page, factory), end.promise]);
      if (typeof started === 'string') {
        if (started === 'aborted') this.#stop();
        return undefined;
      }
      clearTimeout(timer);
      timer = setTimeout(() => end.resolve('late'), READ_TIMEOUT_MS);
      const since = performance.now();
      const response = new Promise<DocumentResponse>((resolve) => {
        started.port.onmessage = ({ data }: MessageEvent<DocumentWorkerMessage>) => {
          if (data !== 'working' && !('progress' in data)) return resolve(data);
          if (data !== 'working') onProgress?.(data.progress);
          clearTimeout(timer);
          timer = setTimeout(() => end.resolve('late'), Math.min(READ_TIMEOUT_MS, MAX_READ_MS - (performance.now() - since)));
        };
      });
      started.port.postMessage(message);
      const answer = await Promise.race([response, end.promise]);
      if (typeof answer !== 'string') return answer;
      // The reader may be in an endless loop.
      this.#stop();
      if (answer === 'late') throw createUnreadableError(name, `couldn’t be read within ${READ_TIMEOUT_MS / 1000} s`);
      return answer === 'gone' ? 'died' : undefined;
    } catch (error) {
      if (error instanceof RpcError) throw error;
      return undefined;
    } finally {
      clearTimeout(timer);
      this.#closeListeners.delete(page);
      signal.removeEventListener('abort', onabort);
    }
  }

  async #getWorker(page: string, factory: PageWorkerProvider): Promise<DocumentWorker> {
    if (this.#worker?.page === page) return this.#worker;
    this.#stop();
    const worker = { page, factory, port: await factory.start() };
    this.#worker = worker;
    return worker;
  }

  #stop(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    worker?.port.close();
    void worker?.factory.stop().catch(() => {});
  }
}
