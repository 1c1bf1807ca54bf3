import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContext, Dialog, Download, Page } from 'playwright';
import { RpcError } from '#shared/rpc/errors.ts';
import type { BrowserHappened } from '#shared/rpc/methods/browser.ts';
import { WORKSPACE_LIMITS } from '#shared/rpc/methods/workspace.ts';
import { firstLine, inTime } from './page-answers.ts';
import { watchRemoteDownloads } from './remote-download.ts';

const MAX_BYTES = WORKSPACE_LIMITS.fileBytes;
const TOO_LARGE = `Downloads in progress are limited to ${MAX_BYTES / 1024 / 1024} MiB in total`;
/** Interval at which the size of downloads is checked. */
const LOOK_MS = 100;
/** Maximum time that a result waits for downloads to end. */
const WAIT_MS = 2_000;
/** Time limit for a download from another machine. */
const REMOTE_MS = 60_000;
/** Maximum number of events in one result, and of files to keep. */
const MAX_TOLD = 20;
const MAX_TEXT = 2_000;
const MAX_NAME = 200;

type Told<K extends keyof BrowserHappened> = BrowserHappened[K][number];

/** A downloaded file. */
interface Kept {
  filename: string;
  /** Path on disk; null if the file is in memory, from another machine. */
  path: string | null;
  content: Buffer | null;
  forget(): void;
}

/** Collects page events that nobody requested: dialogs, answered as the caller decided, and downloads. Each is reported in one result. */
export class Happenings {
  #answer: { accept: boolean; text?: string | undefined } | undefined;
  #dialogs: Told<'dialogs'>[] = [];
  #downloads: Told<'downloads'>[] = [];
  readonly #underWay = new Set<Promise<void>>();
  readonly #kept = new Map<string, Kept>();
  readonly #ondownload = new Set<(download: Told<'downloads'>) => void>();
  /** `folder`: folder used only for downloads of the browser; null if that is on another machine. */
  constructor(context: BrowserContext, folder: string | null) {
    // An unanswered dialog would block the page.
    context.on('dialog', (dialog) => void this.#dialog(dialog).catch(() => {}));
    const watch = (page: Page): void => {
      if (folder !== null) return void page.on('download', (download) => this.#here(download, folder));
      // A page that is closed immediately downloads nothing.
      void watchRemoteDownloads(page, ({ filename, fetch }) =>
        this.#coming(filename, async () => ({
          path: null,
          content: await inTime(fetch(MAX_BYTES, TOO_LARGE), { ms: REMOTE_MS }),
          forget: () => {},
        })),
      ).catch(() => {});
    };
    for (const page of context.pages()) watch(page);
    context.on('page', watch);
  }

  /** Sets how dialogs are answered from now on. */
  answer(accept: boolean, text?: string): void {
    this.#answer = { accept, text };
  }

  /** Calls `listener` for each finished download; `take` returns them too. The result removes it. */
  onDownload(listener: (download: Told<'downloads'>) => void): () => void {
    this.#ondownload.add(listener);
    return () => this.#ondownload.delete(listener);
  }

  /** Returns the events since the last call; undefined if there are none. */
  async take(): Promise<BrowserHappened | undefined> {
    await inTime(Promise.all(this.#underWay), { ms: WAIT_MS }).catch(() => {});
    const [dialogs, downloads] = [this.#dialogs, this.#downloads];
    if (dialogs.length + downloads.length === 0) return undefined;
    [this.#dialogs, this.#downloads] = [[], []];
    return { dialogs, downloads };
  }

  /** Returns a downloaded file. Throws `NOT_FOUND`. */
  async file(downloadId: string): Promise<{ filename: string; content: Buffer }> {
    const kept = this.#kept.get(downloadId);
    if (!kept) throw new RpcError('NOT_FOUND', `No download ${downloadId}`);
    return { filename: kept.filename, content: kept.content ?? (await readFile(kept.path ?? '')) };
  }

  async #dialog(dialog: Dialog): Promise<void> {
    const kind = dialog.type();
    // Alerts are accepted; questions are dismissed unless the caller decided otherwise.
    const accepted = kind === 'alert' || (this.#answer?.accept ?? false);
    const text = kind === 'prompt' && accepted ? (this.#answer?.text ?? dialog.defaultValue()) : undefined;
    const told = { kind, message: dialog.message().slice(0, MAX_TEXT), accepted, ...(text === undefined ? {} : { text }) };
    this.#dialogs = [...this.#dialogs, told].slice(-MAX_TOLD);
    await (accepted ? dialog.accept(text) : dialog.dismiss());
  }

  #here(download: Download, folder: string): void {
    const forget = (): void => void download.delete().catch(() => {});
    this.#coming(download.suggestedFilename(), async () => {
      try {
        await this.#ended(download, folder);
        const path = await download.path();
        if ((await stat(path)).size > MAX_BYTES) throw new Error(TOO_LARGE);
        return { path, content: null, forget };
      } catch (error) {
        forget();
        throw error;
      }
    });
  }

  /** Reports the result of a download and keeps the file. */
  #coming(suggested: string, come: () => Promise<Omit<Kept, 'filename'>>): void {
    const filename = suggested.slice(0, MAX_NAME);
    const downloadId = randomUUID();
    let sizeBytes: number | null = null;
    const work = come()
      .then(async (file) => {
        sizeBytes = file.content?.length ?? (await stat(file.path ?? '')).size;
        this.#keep(downloadId, { filename, ...file });
        return null;
      })
      .catch(firstLine)
      .then((error) => {
        this.#underWay.delete(work);
        const download = { downloadId, filename, sizeBytes, error };
        this.#downloads = [...this.#downloads, download].slice(-MAX_TOLD);
        for (const listener of this.#ondownload) listener(download);
      });
    this.#underWay.add(work);
  }

  /** Resolves when the download is on disk. Rejects if it failed or is too large. */
  async #ended(download: Download, folder: string): Promise<void> {
    let tooLarge = false;
    const look = async (): Promise<void> => {
      if ((await this.#bytes(folder)) <= MAX_BYTES) return;
      tooLarge = true;
      await download.cancel();
    };
    const timer = setInterval(() => void look().catch(() => {}), LOOK_MS);
    try {
      const failure = await download.failure();
      if (failure !== null) throw new Error(tooLarge ? TOO_LARGE : `Download failed: ${failure}`);
    } finally {
      clearInterval(timer);
    }
  }

  /** Bytes of downloads in progress. */
  async #bytes(folder: string): Promise<number> {
    const done = new Set([...this.#kept.values()].map(({ path }) => path));
    const names = (await readdir(folder)).map((name) => join(folder, name)).filter((path) => !done.has(path));
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

  #keep(downloadId: string, file: Kept): void {
    this.#kept.set(downloadId, file);
    const inMemory = (): number => [...this.#kept.values()].reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
    for (const [old, { forget }] of this.#kept) {
      if (this.#kept.size <= MAX_TOLD && inMemory() <= 4 * MAX_BYTES) break;
      this.#kept.delete(old);
      forget();
    }
  }
}
