import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContext, Dialog, Download, Page, CDPSession } from 'playwright';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { BrowserPageEvents } from '#shared/rpc/methods/browser-contracts.ts';
import { WORKSPACE_LIMITS } from '#shared/rpc/workspace-file.ts';
import { firstLine, withTimeout } from './playwright-errors.ts';

/** Bytes per read of a stream. */
const READ_BYTES = 256 * 1024;

/** A download of a remote browser's page. */
interface RemoteDownload {
  filename: string;
  /** Fetches its bytes. Rejects with an error for the user if that fails or there are more than `maxBytes`. */
  fetch(maxBytes: number, tooLarge: string): Promise<Buffer>;
}

interface FetchOptions {
  frameId: string;
  url: string;
  maxBytes: number;
  tooLarge: string;
}

const MAX_DOWNLOAD_BYTES = WORKSPACE_LIMITS.fileBytes;
const TOO_LARGE_MESSAGE = `Downloads in progress are limited to ${MAX_DOWNLOAD_BYTES / 1024 / 1024} MiB in total`;
/** Interval at which the size of downloads is checked. */
const POLL_MS = 100;
/** Maximum time that a result waits for downloads to end. */
const WAIT_MS = 2_000;
/** Time limit for a download from another machine. */
const REMOTE_MS = 60_000;
/** Maximum number of events in one result, and of files to keep. */
const MAX_EVENTS = 20;
const MAX_TEXT_CHARS = 2_000;
const MAX_NAME_CHARS = 200;

type PageEvent<K extends keyof BrowserPageEvents> = BrowserPageEvents[K][number];

/** A downloaded file. */
interface DownloadedFile {
  filename: string;
  /** Path on disk; null if the file is in memory, from another machine. */
  path: string | null;
  content: Buffer | null;
  remove(): void;
}

/** Collects page events that nobody requested: dialogs, answered as the caller decided, and downloads. Each is reported in one result. */
export class PageEvents {
  #dialogPolicy: { accept: boolean; text?: string | undefined } | undefined;
  #dialogs: PageEvent<'dialogs'>[] = [];
  #downloads: PageEvent<'downloads'>[] = [];
  readonly #pending = new Set<Promise<void>>();
  readonly #files = new Map<string, DownloadedFile>();
  readonly #ondownload = new Set<(download: PageEvent<'downloads'>) => void>();
  /** `folder`: folder used only for downloads of the browser; null if that is on another machine. */
  constructor(context: BrowserContext, folder: string | null) {
    // An unanswered dialog would block the page.
    context.on('dialog', (dialog) => void this.#onDialog(dialog).catch(() => {}));
    const watch = (page: Page): void => {
      if (folder !== null) return void page.on('download', (download) => this.#onLocalDownload(download, folder));
      // A page that is closed immediately downloads nothing.
      void watchRemoteDownloads(page, ({ filename, fetch }) =>
        this.#trackDownload(filename, async () => ({
          path: null,
          content: await withTimeout(fetch(MAX_DOWNLOAD_BYTES, TOO_LARGE_MESSAGE), { ms: REMOTE_MS }),
          remove: () => {},
        })),
      ).catch(() => {});
    };
    for (const page of context.pages()) watch(page);
    context.on('page', watch);
  }

  /** Sets how dialogs are answered from now on. */
  setDialogPolicy(accept: boolean, text?: string): void {
    this.#dialogPolicy = { accept, text };
  }

  /** Calls `listener` for each finished download; `takeEvents` returns them too. The result removes it. */
  onDownload(listener: (download: PageEvent<'downloads'>) => void): () => void {
    this.#ondownload.add(listener);
    return () => this.#ondownload.delete(listener);
  }

  /** Returns the events since the last call; undefined if there are none. */
  async takeEvents(): Promise<BrowserPageEvents | undefined> {
    await withTimeout(Promise.all(this.#pending), { ms: WAIT_MS }).catch(() => {});
    const [dialogs, downloads] = [this.#dialogs, this.#downloads];
    if (dialogs.length + downloads.length === 0) return undefined;
    [this.#dialogs, this.#downloads] = [[], []];
    return { dialogs, downloads };
  }

  /** Returns a downloaded file. Throws `NOT_FOUND`. */
  async getFile(downloadId: string): Promise<{ filename: string; content: Buffer }> {
    const file = this.#files.get(downloadId);
    if (!file) throw new RpcError('NOT_FOUND', `No download ${downloadId}`);
    return { filename: file.filename, content: file.content ?? (await readFile(file.path ?? '')) };
  }

  async #onDialog(dialog: Dialog): Promise<void> {
    const kind = dialog.type();
    // Alerts are accepted; questions are dismissed unless the caller decided otherwise.
    const accepted = kind === 'alert' || (this.#dialogPolicy?.accept ?? false);
    const text = kind === 'prompt' && accepted ? (this.#dialogPolicy?.text ?? dialog.defaultValue()) : undefined;
    const event = { kind, message: dialog.message().slice(0, MAX_TEXT_CHARS), accepted, ...(text === undefined ? {} : { text }) };
    this.#dialogs = [...this.#dialogs, event].slice(-MAX_EVENTS);
    await (accepted ? dialog.accept(text) : dialog.dismiss());
  }

  #onLocalDownload(download: Download, folder: string): void {
    const deleteDownload = (): void => void download.delete().catch(() => {});
    this.#trackDownload(download.suggestedFilename(), async () => {
      try {
        await this.#awaitDownload(download, folder);
        const path = await download.path();
        if ((await stat(path)).size > MAX_DOWNLOAD_BYTES) throw new Error(TOO_LARGE_MESSAGE);
        return { path, content: null, remove: deleteDownload };
      } catch (error) {
        deleteDownload();
        throw error;
      }
    });
  }

  /** Reports the result of a download and keeps the file. */
  #trackDownload(suggested: string, receive: () => Promise<Omit<DownloadedFile, 'filename'>>): void {
    const filename = suggested.slice(0, MAX_NAME_CHARS);
    const downloadId = randomUUID();
    let sizeBytes: number | null = null;
    const work = receive()
      .then(async (file) => {
        sizeBytes = file.content?.length ?? (await stat(file.path ?? '')).size;
        this.#storeFile(downloadId, { filename, ...file });
        return null;
      })
      .catch(firstLine)
      .then((error) => {
        this.#pending.delete(work);
        const download = { downloadId, filename, sizeBytes, error };
        this.#downloads = [...this.#downloads, download].slice(-MAX_EVENTS);
        for (const listener of this.#ondownload) listener(download);
      });
    this.#pending.add(work);
  }

  /** Resolves when the download is on disk. Rejects if it failed or is too large. */
  async #awaitDownload(download: Download, folder: string): Promise<void> {
    let tooLarge = false;
    const checkSize = async (): Promise<void> => {
      if ((await this.#countPendingBytes(folder)) <= MAX_DOWNLOAD_BYTES) return;
      tooLarge = true;
      await download.cancel();
    };
    const timer = setInterval(() => void checkSize().catch(() => {}), POLL_MS);
    try {
      const failure = await download.failure();
      if (failure !== null) throw new Error(tooLarge ? TOO_LARGE_MESSAGE : `Download failed: ${failure}`);
    } finally {
      clearInterval(timer);
    }
  }

  /** Bytes of downloads in progress. */
  async #countPendingBytes(folder: string): Promise<number> {
    const storedPaths = new Set([...this.#files.values()].map(({ path }) => path));
    const names = (await readdir(folder)).map((name) => join(folder, name)).filter((path) => !storedPaths.has(path));
    const sizes = await Promise.all(
      names.map((path) =>
        stat(path).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  #storeFile(downloadId: string, file: DownloadedFile): void {
    this.#files.set(downloadId, file);
    const inMemory = (): number => [...this.#files.values()].reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
    for (const [oldId, { remove }] of this.#files) {
      if (this.#files.size <= MAX_EVENTS && inMemory() <= 4 * MAX_DOWNLOAD_BYTES) break;
      this.#files.delete(oldId);
      remove();
    }
  }
}

/**
 * Reports the downloads of a remote page. Their files stay on that machine without access, so the bytes are fetched by another request of
 * that browser with its cookies (CDP, `Network.loadNetworkResource`).
 */
async function watchRemoteDownloads(page: Page, onDownload: (download: RemoteDownload) => void): Promise<void> {
  const session = await page.context().newCDPSession(page);
  session.on('Page.downloadWillBegin', ({ frameId, url, suggestedFilename: filename }) =>
    onDownload({ filename, fetch: (maxBytes, tooLarge) => fetchRemotely(session, { frameId, url, maxBytes, tooLarge }) }),
  );
  await session.send('Page.enable');
}

async function fetchRemotely(session: CDPSession, { frameId, url, maxBytes, tooLarge }: FetchOptions): Promise<Buffer> {
  if (!/^https?:/.test(url)) throw new Error('The file was created by the page and stays on the browser’s computer');
  const options = { disableCache: false, includeCredentials: true };
  const { resource } = await session.send('Network.loadNetworkResource', { frameId, url, options });
  const { success, stream: handle, httpStatusCode: status = 0, netErrorName } = resource;
  if (!success || handle === undefined || status >= 400)
    throw new Error(`Couldn’t fetch the file again (${status || (netErrorName ?? 'no response')}). It stays on the browser’s computer.`);
  try {
    const chunks: Buffer[] = [];
    for (let bytes = 0, isOver = false; !isOver;) {
      const { data, base64Encoded, eof } = await session.send('IO.read', { handle, size: READ_BYTES });
      const chunk = Buffer.from(data, base64Encoded ? 'base64' : 'utf8');
      if ((bytes += chunk.length) > maxBytes) throw new Error(tooLarge);
      chunks.push(chunk);
      isOver = eof;
    }
    return Buffer.concat(chunks);
  } finally {
    void session.send('IO.close', { handle }).catch(() => {});
  }
}
