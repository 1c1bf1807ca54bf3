/** How long what is under way waits for the last page to be back: a page that reloads is, on a busy machine after some seconds. */
const RETURN_MS = 10_000;
/** How long a worker without pages goes on with what is under way, once another host serves; browsers let it live for some minutes at best. */
const FINISH_MS = 120_000;
const LOOK_MS = 100;

export interface PagesDeps {
  /** A page is here. */
  stay(): void;
  /** Asks another host to serve, where there is one; resolves when it has been asked. */
  leave(): Promise<void>;
  /** Another host serves. */
  isServed(): boolean;
  /** Something is under way on the line. */
  isBusy(): boolean;
  /** No page is here, and nothing that is under way waits any more. */
  ongone(): void;
}

/** The pages of this worker, each by the lock that it holds for its life, and what the last one leaves behind. */
export class Pages {
  readonly #deps: PagesDeps;
  /** Pages that hide count only while another page is here: a lone page may freeze the worker with its socket open. */
  readonly #pages = new Map<string, 'here' | 'away'>();
  /** Counts the times that a page has left or come. */
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
      // The page ended.
      this.#pages.delete(tabLock);
      this.#left();
    });
  }

  /** The page is hidden, and may never return. */
  away(tabLock: string): void {
    this.#pages.set(tabLock, 'away');
    this.#left();
  }

  /**
   * With no page here any more another host is asked to serve first: clients are taken there, and what is under way here may end. Where there is none, what is
   * under way has the time in which a page that only reloads would be back.
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
