import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { ReviewItem } from '#shared/rpc/methods/review-contracts.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { announcer } from '../state/announcer.svelte.ts';

/** Delay of a reload after the last change, in milliseconds, as a label is written before its content. */
const REFRESH_MS = 500;

/** Content that agents wrote after reading from outside, and that no person has reviewed. */
class Reviews {
  /** The newest first; null before the first answer. */
  items = $state.raw<ReviewItem[] | null>(null);
  problem = $state<Problem | null>(null);
  #loadCount = 0;
  readonly #byId = $derived(new Map(this.items?.map((item) => [item.id, item])));

  /** Loads the items, now and at each change. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const unsubscribe = gateway.on('review.changed', () => {
      clearTimeout(timer);
      timer = setTimeout(() => void this.load(), REFRESH_MS);
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    try {
      const { items } = await gateway.call('review.list', {});
      if (loadId === this.#loadCount) this.#set(items);
    } catch (error) {
      if (loadId !== this.#loadCount || isConnectionLost(error)) return;
      // A host of an older build labels nothing.
      if (error instanceof RpcError && error.code === 'METHOD_NOT_FOUND') this.#set([]);
      else this.problem = toProblem(error, m.review_doing_read());
    }
  }

  /** The item with an id such as `memory:main/<memory id>`. */
  find(id: string): ReviewItem | undefined {
    return this.#byId.get(id);
  }

  /** The item with its whole text; null if it no longer waits. */
  async read({ id }: ReviewItem): Promise<ReviewItem | null> {
    return (await gateway.call('review.list', { id })).items[0] ?? null;
  }

  /** Rejects if the gateway refuses, also because the content has changed since. */
  async approve({ id, at }: ReviewItem): Promise<void> {
    await gateway.call('review.approve', { id, at }).catch((error: unknown) => {
      // A host of an older build does not know `at`.
      if (error instanceof RpcError && error.code === 'INVALID_PARAMS') return gateway.call('review.approve', { id });
      void this.load();
      throw error;
    });
    this.#remove(id);
    announcer.announce(m.review_approved());
  }

  /** Deletes the content. Rejects if the gateway refuses. */
  async discard({ id }: ReviewItem): Promise<void> {
    await gateway.call('review.discard', { id });
    this.#remove(id);
    announcer.announce(m.review_discarded());
  }

  #set(items: ReviewItem[]): void {
    this.items = items;
    this.problem = null;
  }

  #remove(id: string): void {
    this.items = this.items?.filter((item) => item.id !== id) ?? null;
  }
}

export const reviews = new Reviews();
