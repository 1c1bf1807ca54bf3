import { SvelteMap } from 'svelte/reactivity';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { type Problem, toProblem } from '#kit/problems.ts';
import { fromHandle } from './folder-tree.ts';
import { keepFolder, type KeptFolder, requestFolderAccess } from './kept-folders.ts';
import { type FileListing, listFiles } from './list-files.ts';
import { compareFolder, sendFiles } from './send-files.ts';

/** Files on their way to a collection. It goes on while other pages are shown. */
export class Upload {
  state = $state<'listing' | 'sending' | 'done' | 'cancelled' | 'failed'>('listing');
  /** Files that are found, and of these the ones to send and those sent. */
  found = $state(0);
  total = $state(0);
  sent = $state(0);
  /** Files left out, by reason. */
  tooLarge = $state(0);
  unreadable = $state(0);
  isCut = $state(false);
  problem = $state.raw<Problem | null>(null);
  readonly #abort = new AbortController();

  get isRunning(): boolean {
    return this.state === 'listing' || this.state === 'sending';
  }

  get leftOut(): number {
    return this.tooLarge + this.unreadable;
  }

  cancel(): void {
    if (!this.isRunning) return;
    this.state = 'cancelled';
    this.#abort.abort();
  }

  /** Runs the work; `work` gets the signal of `cancel`. */
  async run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await work(this.#abort.signal);
      if (this.isRunning) this.state = 'done';
    } catch (error) {
      if (!this.isRunning) return;
      this.state = 'failed';
      this.problem = toProblem(error, m.collections_doing_add());
    }
  }

  /** Takes over what was found. */
  apply({ files, tooLarge, unreadable, isCut }: FileListing): void {
    this.found += files.length;
    this.tooLarge += tooLarge;
    this.unreadable += unreadable;
    this.isCut ||= isCut;
  }

  readonly onsent = (sent: number, unreadable: number): void => {
    this.sent += sent;
    this.unreadable += unreadable;
    this.total -= unreadable;
  };
}

/** Uploads of this page by collection. */
class Uploads {
  readonly #byCollection = new SvelteMap<string, Upload>();
  /** The last upload of each collection: the next one waits for it. */
  readonly #last = new Map<string, Promise<void>>();

  get(collectionId: string): Upload | undefined {
    return this.#byCollection.get(collectionId);
  }

  dismiss(collectionId: string): void {
    this.#byCollection.delete(collectionId);
  }

  /** Sends files that `list` finds, and keeps the folders that they come from. */
  async add(
    collectionId: string,
    list: (options: { signal: AbortSignal; onfound: (count: number) => void }) => Promise<FileListing>,
    folders: readonly FileSystemDirectoryHandle[] = [],
  ): Promise<void> {
    await this.#run(collectionId, async (upload, signal) => {
      const listing = await list({ signal, onfound: (count) => (upload.found = count) });
      upload.found = 0;
      upload.apply(listing);
      for (const folder of folders) await keepFolder(collectionId, folder);
      await this.#send(upload, collectionId, listing.files, signal);
    });
  }

  /** Reads kept folders again, sends their new and changed files, and removes the documents whose files are gone. */
  async refresh(collectionId: string, folders: readonly KeptFolder[]): Promise<void> {
    await this.#run(collectionId, async (upload, signal) => {
      for (const folder of folders) {
        const { name } = folder.handle;
        if (!(await requestFolderAccess(folder))) throw new Error(m.collections_folder_access_denied({ name }));
        const listing = await listFiles([fromHandle(folder.handle)], { signal });
        upload.apply(listing);
        const { changed, goneIds } = await compareFolder(gateway, collectionId, name, listing.files);
        // A list that is cut does not tell which files are gone.
        if (goneIds.length > 0 && !listing.isCut) await gateway.call('collections.removeDocuments', { collectionId, documentIds: goneIds });
        await this.#send(upload, collectionId, changed, signal);
      }
    });
  }

  async #run(collectionId: string, work: (upload: Upload, signal: AbortSignal) => Promise<void>): Promise<void> {
    const previous = this.#last.get(collectionId) ?? Promise.resolve();
    const running = previous.then(() => {
      const upload = new Upload();
      this.#byCollection.set(collectionId, upload);
      return upload.run((signal) => work(upload, signal));
    });
    this.#last.set(collectionId, running);
    await running;
  }

  async #send(upload: Upload, collectionId: string, files: FileListing['files'], signal: AbortSignal): Promise<void> {
    upload.state = 'sending';
    upload.total += files.length;
    await sendFiles(gateway, collectionId, files, { signal, onsent: upload.onsent });
  }
}

export const uploads = new Uploads();
