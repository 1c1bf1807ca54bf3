import type { CollectionDocument } from '#shared/rpc/methods/collection-contracts.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';

const PAGE_SIZE = 200;
/** Delay of a search while its text is typed, and of a reload after a change. */
const INPUT_DELAY_MS = 150;
const CHANGE_DELAY_MS = 1_000;

/** The documents of a collection, loaded as the list is scrolled. */
export class DocumentList {
  readonly collectionId: string;
  /** Null before the first answer. */
  items = $state.raw<readonly CollectionDocument[] | null>(null);
  /** Number of all documents that match. */
  total = $state(0);
  query = $state('');
  isFailedOnly = $state(false);
  problem = $state.raw<Problem | null>(null);
  #cursor: string | null = null;
  #loadCount = 0;
  #isLoadingMore = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(collectionId: string) {
    this.collectionId = collectionId;
  }

  get hasMore(): boolean {
    return this.items !== null && this.items.length < this.total;
  }

  /** Loads the documents, now and after each change. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    const stop = gateway.on('collection.changed', ({ collectionId, deleted }) => {
      if (collectionId === this.collectionId && !deleted) this.#schedule(CHANGE_DELAY_MS);
    });
    return () => {
      stop();
      clearTimeout(this.#timer);
    };
  }

  /** Loads the list again, as far as it was loaded. */
  async load(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const loadId = ++this.#loadCount;
    const wanted = Math.max(PAGE_SIZE, this.items?.length ?? 0);
    try {
      const items: CollectionDocument[] = [];
      let cursor: string | null = null;
      let total = 0;
      do {
        const page: Awaited<ReturnType<DocumentList['fetchPage']>> = await this.fetchPage(cursor, Math.min(500, wanted - items.length));
        if (loadId !== this.#loadCount) return;
        items.push(...page.documents);
        ({ cursor, total } = page);
      } while (cursor !== null && items.length < wanted);
      Object.assign(this, { items, total, problem: null });
      this.#cursor = cursor;
    } catch (error) {
      if (loadId === this.#loadCount && !isConnectionLost(error)) this.problem = toProblem(error, m.collections_doing_list_documents());
    }
  }

  async loadMore(): Promise<void> {
    if (this.#cursor === null || this.#isLoadingMore) return;
    this.#isLoadingMore = true;
    const loadId = this.#loadCount;
    try {
      const { documents, total, cursor } = await this.fetchPage(this.#cursor, PAGE_SIZE);
      if (loadId !== this.#loadCount) return;
      this.items = [...(this.items ?? []), ...documents];
      this.total = total;
      this.#cursor = cursor;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.collections_doing_list_documents());
    } finally {
      this.#isLoadingMore = false;
    }
  }

  /** Starts from the beginning of another list: the query or the filter has changed. */
  onFilterChanged(delayMs = INPUT_DELAY_MS): void {
    this.items = this.items?.slice(0, PAGE_SIZE) ?? null;
    this.#loadCount++;
    this.#schedule(delayMs, true);
  }

  /** Rejects if the gateway refuses. */
  async remove({ id }: CollectionDocument): Promise<void> {
    await gateway.call('collections.removeDocuments', { collectionId: this.collectionId, documentIds: [id] });
    this.items = this.items?.filter((each) => each.id !== id) ?? null;
    this.total = Math.max(0, this.total - 1);
  }

  fetchPage(cursor: string | null, limit: number) {
    const query = this.query.trim();
    return gateway.call('collections.documents', {
      collectionId: this.collectionId,
      limit,
      ...(query === '' ? {} : { query }),
      ...(this.isFailedOnly ? { status: 'failed' as const } : {}),
      ...(cursor === null ? {} : { cursor }),
    });
  }

  #schedule(delayMs: number, restart = false): void {
    if (restart) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    this.#timer ??= setTimeout(() => void this.load(), delayMs);
  }
}
