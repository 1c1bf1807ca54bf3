import { libraryFromJson, type LibraryItem, libraryToJson, MAX_LIBRARY_ITEMS } from '#shared/canvas/shape-library.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { formatNumber } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';

/** File of the main workspace that holds the library, so that it is synced and backed up with the vault. */
const LIBRARY_PATH = 'annotate/library.json';
/** Maximum characters of the file; the gateway allows 8 MiB. */
const MAX_LIBRARY_CHARS = 6_000_000;

/** The person's library of shapes. */
class SavedShapes {
  /** Last added first; null before the first answer. */
  items = $state.raw<readonly LibraryItem[] | null>(null);
  problem = $state<Problem | null>(null);

  async load(): Promise<void> {
    try {
      this.items = await this.#read();
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.annotate_doing_read_library());
    }
  }

  /** Adds items in front. Rejects with an Error for the person if there is no room. */
  add(items: readonly Omit<LibraryItem, 'id'>[]): Promise<void> {
    return this.#change((before) => [...items.map((item) => ({ ...item, id: crypto.randomUUID() })), ...before]);
  }

  remove(id: string): Promise<void> {
    return this.#change((before) => before.filter((item) => item.id !== id));
  }

  /** Puts a removed item back. */
  restore(item: LibraryItem): Promise<void> {
    return this.#change((before) => [item, ...before.filter(({ id }) => id !== item.id)]);
  }

  async #read(): Promise<LibraryItem[]> {
    try {
      return libraryFromJson((await gateway.call('workspace.read', { path: LIBRARY_PATH })).content);
    } catch (error) {
      if (error instanceof RpcError && error.code === 'NOT_FOUND') return [];
      throw error;
    }
  }

  /** Changes what the gateway has now: another tab may have changed it. */
  async #change(edit: (before: LibraryItem[]) => LibraryItem[]): Promise<void> {
    const items = edit(await this.#read());
    const content = libraryToJson(items);
    if (items.length > MAX_LIBRARY_ITEMS || content.length > MAX_LIBRARY_CHARS)
      throw new Error(m.annotate_library_full({ count: formatNumber(MAX_LIBRARY_ITEMS) }));
    await gateway.call('workspace.write', { path: LIBRARY_PATH, content, mimeType: 'application/json' });
    this.items = items;
    this.problem = null;
  }
}

export const savedShapes = new SavedShapes();
