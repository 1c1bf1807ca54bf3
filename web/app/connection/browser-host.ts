import type { GatewayClient } from '#shared/client/client.ts';
import type { HostCredential, HostStatus } from '#shared/ports/host-api.ts';
import { WorkerHost } from './worker-host.ts';

const HEARTBEAT_INTERVAL_MS = 3_000;
/** Minimum uptime of a worker; one that ends sooner could not start and is not restarted immediately. */
const MIN_UPTIME_MS = 1_000;

interface BrowserHostEvents {
  onStatus(status: HostStatus): void;
  /** Whether the worker answers heartbeats. */
  onAlive(alive: boolean): void;
  /** `early`: the worker could not start. */
  onDied(early: boolean): void;
}

/** This browser's own host: a worker that is started on demand, and replaced after it has died. */
export class BrowserHost {
  readonly #events: BrowserHostEvents;
  #worker: WorkerHost | null = null;
  #credential: HostCredential | null = null;

  constructor(events: BrowserHostEvents) {
    this.#events = events;
  }

  /**
   * Starts the worker, or attaches to the one that other tabs use; it then keeps the connection to the bridge, if there is a credential.
   */
  start(): WorkerHost {
    if (this.#worker) return this.#worker;
    const worker = WorkerHost.start();
    this.#worker = worker;
    const startedAt = performance.now();
    worker.watch((status) => this.#worker === worker && this.#events.onStatus(status));
    const heartbeat = setInterval(
      () => void worker.alive().then((alive) => this.#worker === worker && this.#events.onAlive(alive)),
      HEARTBEAT_INTERVAL_MS,
    );
    void worker.died.then(() => {
      clearInterval(heartbeat);
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#events.onDied(performance.now() - startedAt < MIN_UPTIME_MS);
    });
    // A page that uses the bridge counts as visible: the worker stays connected for it.
    worker.handlePageShow();
    this.#dial(worker);
    return worker;
  }

  /** Sets the credential for the bridge's `/uplink`. A host that could not start tries again. */
  attach(credential: HostCredential): void {
    this.#credential = credential;
    if (this.#worker) this.#dial(this.#worker);
  }

  connect(): Promise<GatewayClient> {
    return this.start().connect();
  }

  /** Ends the worker without starting another one. */
  async end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.end();
  }

  handlePageHide(): void {
    this.#worker?.handlePageHide();
  }

  handlePageShow(): void {
    this.#worker?.handlePageShow();
  }

  #dial(worker: WorkerHost): void {
    // The worker's status reports a failure to serve.
    if (this.#credential) worker.api.attach(this.#credential).catch(() => {});
  }
}
