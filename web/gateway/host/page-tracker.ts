/** Time for which running work waits for the last page to return: a reload takes some seconds on a busy machine. */
const RELOAD_GRACE_MS = 10_000;
/**
 * Time for which a worker without pages continues running work after another host has become active; browsers let it live for some minutes
 * at best.
 */
const HANDOVER_GRACE_MS = 120_000;
const POLL_MS = 100;

interface PageTrackerDeps {
  /** Called when a page is present. */
  cancelLeave(): void;
  /** Asks another host, if there is one, to become active; resolves when it has been asked. */
  leave(): Promise<void>;
  /** Whether another host is active. */
  isServedElsewhere(): boolean;
  /** Whether the connection has active streams. */
  isBusy(): boolean;
  /** Called when no page is present and no work is waited for any more. */
  onAbandoned(): void;
}

/** The pages of this worker, each identified by the lock that it holds for its lifetime, and the shutdown after the last one. */
export class PageTracker {
  readonly #deps: PageTrackerDeps;
  /** Hidden pages count only while another page is visible: a lone page may freeze the worker with its socket open. */
  readonly #pages = new Map<string, 'here' | 'away'>();
  /** Incremented whenever a page has left or appeared. */
  #departure = 0;

  constructor(deps: PageTrackerDeps) {
    this.#deps = deps;
  }

  markPresent(tabLock: string): void {
    const isKnown = this.#pages.has(tabLock);
    this.#pages.set(tabLock, 'here');
    this.#departure++;
    this.#deps.cancelLeave();
    if (isKnown) return;
    void navigator.locks.request(tabLock, () => {
      // The page was closed.
      this.#pages.delete(tabLock);
      this.#onPageLeft();
    });
  }

  /** Called when the page is hidden, and may never return. */
  markAway(tabLock: string): void {
    this.#pages.set(tabLock, 'away');
    this.#onPageLeft();
  }

  /**
   * When the last page has left, first asks another host to become active: clients move there, and running work here may finish. If there
   * is no other host, running work has the time that a reload takes.
   */
  #onPageLeft(): void {
    if ([...this.#pages.values()].includes('here')) return;
    const { leave, isServedElsewhere, isBusy, onAbandoned } = this.#deps;
    const departure = ++this.#departure;
    const since = performance.now();
    let hasLeft = false;
    const poll = (): void => {
      if (departure !== this.#departure) return;
      const isOver = performance.now() - since > (isServedElsewhere() ? HANDOVER_GRACE_MS : RELOAD_GRACE_MS);
      if (isOver || (hasLeft && !isBusy())) return onAbandoned();
      setTimeout(poll, POLL_MS);
    };
    void leave().then(() => {
      hasLeft = true;
      poll();
    });
    setTimeout(poll, POLL_MS);
  }
}
