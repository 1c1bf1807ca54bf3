import type { PageWorkerProvider } from '#shared/ports/host-api.ts';

/** The pages that provide workers for one kind of work, each until it closes. */
export class PageWorkers {
  /** Called when a page is added. */
  onAdded: (() => void) | undefined;
  /** Called when a page has closed. */
  onRemoved: ((page: string) => void) | undefined;
  readonly #providers = new Map<string, PageWorkerProvider>();

  get size(): number {
    return this.#providers.size;
  }

  /** A page that is added again counts as new. */
  add(page: string, provider: PageWorkerProvider): void {
    this.#providers.delete(page);
    this.#providers.set(page, provider);
    this.onAdded?.();
  }

  remove(page: string): void {
    this.#providers.delete(page);
    this.onRemoved?.(page);
  }

  /** The newest page first: it is most likely in the foreground. */
  newestFirst(): [page: string, provider: PageWorkerProvider][] {
    return [...this.#providers].reverse();
  }
}
