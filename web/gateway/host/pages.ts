/** Time for which running work waits for the last page to return: a reload takes some seconds on a busy machine. */
const RETURN_MS = 10_000;
/**
 * Time for which a worker without pages continues running work after another host has become active; browsers let it live for some minutes
 * at best.
 */
const FINISH_MS = 120_000;
const LOOK_MS = 100;

export interface PagesDeps {
  /** Called when a page is present. */
  stay(): void;
  /** Asks another host, if there is one, to become active; resolves when it has been asked. */
  leave(): Promise<void>;
  /** Whether another host is active. */
  isServed(): boolean;
  /** Whether the connection has active streams. */
  isBusy(): boolean;
  /** Called when no page is present and no work is waited for any more. */
  ongone(): void;
}

/** The pages of this worker, each identified by the lock that it holds for its lifetime, and the shutdown after the last one. */
export class Pages {
  readonly #deps: PagesDeps;
  /** Hidden pages count only while another page is visible: a lone page may freeze the worker with its socket open. */
  readonly #pages = new Map<string, 'here' | 'away'>();
  /** Incremented whenever a page has left or appeared. */
  #departure = 0;

  constructor(deps: PagesDeps) {
    this.#deps = deps;
  }

  here(tabLock: string): void {
    const known = this.#pages.has(tabLock);
    this.#pages.set(tabLock, 'here');
    this.#departure++;
    this.#deps.stay();
    if (known) return;
    void navigator.locks.request(tabLock, () => {
      // The page was closed.
      this.#pages.delete(tabLock);
      this.#left();
    });
  }

  /** Called when the page is hidden, and may never return. */
  away(tabLock: string): void {
    this.#pages.set(tabLock, 'away');
    this.#left();
  }

  /**
   * When the last page has left, first asks another host to become active: clients move there, and running work here may finish. If there
   * is no other host, running work has the time that a reload takes.
   */
  #left(): void {
    if ([...this.#pages.values()].includes('here')) return;
    const { leave, isServed, isBusy, ongone } = this.#deps;
    const departure = ++this.#departure;
    const since = performance.now();
    let asked = false;
    const look = (): void => {
      if (departure !== this.#departure) return;
      const over = performance.now() - since > (isServed() ? FINISH_MS : RETURN_MS);
      if (over || (asked && !isBusy())) return ongone();
      setTimeout(look, LOOK_MS);
    };
    void leave().then(() => {
      asked = true;
      look();
    });
    setTimeout(look, LOOK_MS);
  }
}
