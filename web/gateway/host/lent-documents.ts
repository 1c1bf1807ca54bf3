import type { WorkerLender } from '#shared/ports/host.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { type Documents, type DocumentRequest, type DocumentText, unreadable } from '../core/documents/documents.ts';
import { readHere } from '../core/documents/read-here.ts';
import type { DocumentAnswer } from '../documents/answer.ts';

/** In milliseconds. A frozen page does not respond: the next one is asked. */
const START_MS = 5_000;
const READ_MS = 60_000;
/** Time limit for a worker that reports progress, such as on a scan of many pages. */
const MAX_READ_MS = 600_000;
/** Time without requests after which a worker is ended to free its memory. */
const IDLE_MS = 60_000;

interface Helper {
  page: string;
  lender: WorkerLender;
  port: MessagePort;
}

/**
 * Reads documents in workers started by pages: a SharedWorker cannot start one, and parsing a file in the gateway's own worker would block
 * everything else, forever if the file is malicious. One file at a time. If no page can start a worker, the gateway's own worker reads the
 * file.
 */
export class LentDocuments implements Documents {
  readonly #lenders = new Map<string, WorkerLender>();
  readonly #gone = new Map<string, () => void>();
  readonly #fallback: Documents;
  #helper: Helper | undefined;
  #line: Promise<unknown> = Promise.resolve();
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(fallback: Documents = readHere) {
    this.#fallback = fallback;
  }

  /** Adds a page that starts workers, until it closes. */
  lend(page: string, lender: WorkerLender): void {
    this.#lenders.delete(page);
    this.#lenders.set(page, lender);
  }

  gone(page: string): void {
    this.#lenders.delete(page);
    if (this.#helper?.page === page) this.#helper = undefined;
    this.#gone.get(page)?.();
  }

  read(request: DocumentRequest, signal: AbortSignal): Promise<DocumentText> {
    const read = this.#line.then(() => this.#read(request, signal));
    this.#line = read.catch(() => {});
    return read;
  }

  async #read(request: DocumentRequest, signal: AbortSignal): Promise<DocumentText> {
    clearTimeout(this.#idle);
    let died = false;
    try {
      // The newest page first: it is most likely in the foreground.
      for (const [page, lender] of [...this.#lenders].reverse()) {
        signal.throwIfAborted();
        const answer = await this.#lent(page, lender, request, signal);
        if (answer === 'died') {
          // The page may have been closed, or crashed by the file: such a file is never read where it could crash the gateway.
          if (died) break;
          died = true;
          continue;
        }
        if (answer && 'text' in answer) return answer.text;
        if (answer && 'refused' in answer) throw new RpcError(answer.refused.code, answer.refused.message);
      }
      signal.throwIfAborted();
      if (died) throw unreadable(request.name, 'couldn’t be read because the tab reading it was closed. Try again');
      return await this.#fallback.read(request, signal);
    } finally {
      this.#idle = setTimeout(() => this.#stop(), IDLE_MS);
    }
  }

  /** Response of a page's worker; undefined if the page is gone, frozen, or cannot start one. `died`: whether it ended while reading. */
  async #lent(
    page: string,
    lender: WorkerLender,
    request: DocumentRequest,
    signal: AbortSignal,
  ): Promise<Exclude<DocumentAnswer, 'working'> | 'died' | undefined> {
    const end = Promise.withResolvers<'gone' | 'aborted' | 'late'>();
    const onabort = (): void => end.resolve('aborted');
    this.#gone.set(page, () => end.resolve('gone'));
    signal.addEventListener('abort', onabort);
    let timer = setTimeout(() => end.resolve('late'), START_MS);
    try {
      const started = await Promise.race([this.#started(page, lender), end.promise]);
      if (typeof started === 'string') {
        if (started === 'aborted') this.#stop();
        return undefined;
      }
      clearTimeout(timer);
      timer = setTimeout(() => end.resolve('late'), READ_MS);
      const since = performance.now();
      const answered = new Promise<Exclude<DocumentAnswer, 'working'>>((resolve) => {
        started.port.onmessage = ({ data }: MessageEvent<DocumentAnswer>) => {
          if (data !== 'working') return resolve(data);
          clearTimeout(timer);
          timer = setTimeout(() => end.resolve('late'), Math.min(READ_MS, MAX_READ_MS - (performance.now() - since)));
        };
      });
      started.port.postMessage(request);
      const answer = await Promise.race([answered, end.promise]);
      if (typeof answer !== 'string') return answer;
      // The reader may be in an endless loop.
      this.#stop();
      if (answer === 'late') throw unreadable(request.name, `couldn’t be read within ${READ_MS / 1000} s`);
      return answer === 'gone' ? 'died' : undefined;
    } catch (error) {
      if (error instanceof RpcError) throw error;
      return undefined;
    } finally {
      clearTimeout(timer);
      this.#gone.delete(page);
      signal.removeEventListener('abort', onabort);
    }
  }

  async #started(page: string, lender: WorkerLender): Promise<Helper> {
    if (this.#helper?.page === page) return this.#helper;
    this.#stop();
    const helper = { page, lender, port: await lender.start() };
    this.#helper = helper;
    return helper;
  }

  #stop(): void {
    const helper = this.#helper;
    this.#helper = undefined;
    helper?.port.close();
    void helper?.lender.stop().catch(() => {});
  }
}
