import { proxy, type Remote, transfer, wrap } from 'comlink';
import { GatewayClient } from '#shared/client/client.ts';
import { portLink } from '#shared/link/link.ts';
import { type HostApi, type HostStatus, PAGE_WORKERS } from '#shared/ports/host-api.ts';
import sharedUrl from '../../gateway/host/worker.ts?sharedworker&url';
import dedicatedUrl from '../../gateway/host/worker.ts?worker&url';
import { isDemo, toScopedName } from '../state/demo.ts';
import { toTrustedScriptUrl } from './trusted-script-url.ts';
import { TaskWorker } from './task-worker.ts';

/** Every tab must pass the same options, else the browser refuses to connect to the SharedWorker. */
const WORKER_OPTIONS = { type: 'module', name: toScopedName(`perch-${__PERCH_BUILD__}`), extendedLifetime: true } as const;

/** Timeout for the worker to identify itself, since one that is killed while starting reports no event. */
const START_TIMEOUT_MS = 10_000;

/** Timeout of a heartbeat, after which the worker counts as frozen. */
const HEARTBEAT_TIMEOUT_MS = 3_000;

/** Delay of low-priority work. */
const LOW_PRIORITY_DELAY_MS = 2_000;

/** The worker that hosts the gateway in this browser, seen from one page. */
export class WorkerHost {
  readonly api: Remote<HostApi>;
  /** Resolves when the worker is dead; never rejects. */
  readonly died: Promise<void>;
  readonly #tabLock = `perch-tab:${crypto.randomUUID()}`;
  readonly #taskWorkers = PAGE_WORKERS.map((task) => new TaskWorker(task));
  #lockHeld: Promise<void>;
  #cancelReady = (): void => {};

  private constructor(api: Remote<HostApi>, onerror: Promise<never>, stop = (): void => {}) {
    this.api = api;
    this.#lockHeld = holdLock(this.#tabLock);
    this.#offerTaskWorkers();
    void this.#offerBuiltInModel();
    const startTimeout = Promise.withResolvers<never>();
    const timer = setTimeout(startTimeout.reject, START_TIMEOUT_MS);
    this.died = Promise.race([api.identify(), onerror, startTimeout.promise]).then(async ({ lock }) => {
      clearTimeout(timer);
      await navigator.locks.request(lock, () => {});
      void api.end();
    }, stop);
  }

  /** Starts the worker, or attaches to the one that other tabs use. */
  static start(): WorkerHost {
    const failed = Promise.withResolvers<never>();
    failed.promise.catch(() => {});
    const fail = (): void => failed.reject(new Error('The gateway couldn’t start'));
    if (typeof SharedWorker === 'undefined') {
      const worker = new Worker(toTrustedScriptUrl(dedicatedUrl), { type: 'module', name: WORKER_OPTIONS.name });
      worker.onerror = fail;
      return new WorkerHost(wrap<HostApi>(worker), failed.promise, () => worker.terminate());
    }
    const worker = new SharedWorker(toTrustedScriptUrl(sharedUrl), WORKER_OPTIONS);
    worker.onerror = fail;
    return new WorkerHost(wrap<HostApi>(worker.port), failed.promise);
  }

  watch(callback: (status: HostStatus) => void): void {
    void this.api.watch(proxy(callback));
  }

  /** Opens a connection of protocol 3 over its own port. */
  async connect(): Promise<GatewayClient> {
    await this.#lockHeld;
    const { port1, port2 } = new MessageChannel();
    const link = portLink<string>(port1);
    const [client] = await Promise.all([
      GatewayClient.connect(link, {
        params: { client: { id: 'perch-app', version: __PERCH_BUILD__, platform: 'web', mode: 'ui' }, clientName: 'Perch', events: 'all' },
        timeoutMs: 40_000,
      }),
      this.api.open(transfer(port2, [port2]), this.#tabLock),
    ]);
    return client;
  }

  /** Whether the worker's code still runs. */
  async alive(): Promise<boolean> {
    const timeout = new Promise<false>((resolve) => setTimeout(resolve, HEARTBEAT_TIMEOUT_MS, false));
    return Promise.race([this.api.ping().then(() => true), timeout]);
  }

  /** Ends the worker for all tabs; resolves when it is dead. */
  async end(): Promise<void> {
    void this.api.end();
    await this.died;
  }

  handlePageHide(): void {
    void this.api.leaving(this.#tabLock);
  }

  handlePageShow(): void {
    // Only once the lock is held: a page whose lock the worker can acquire counts as closed.
    void this.#lockHeld.then(() => this.api.returning(this.#tabLock));
    this.#offerTaskWorkers();
    void this.#offerBuiltInModel();
  }

  #offerTaskWorkers(): void {
    void this.#lockHeld.then(() => {
      for (const worker of this.#taskWorkers) void this.api.lend(this.#tabLock, worker.task, proxy(worker));
    });
  }

  /** Provides the browser's own model, if there is one, after the page is usable. */
  async #offerBuiltInModel(): Promise<void> {
    if (!('LanguageModel' in globalThis) || isDemo) return;
    await new Promise((resolve) => setTimeout(resolve, LOW_PRIORITY_DELAY_MS));
    const { offerBuiltInModel } = await import('../built-in-model/offer-built-in-model.ts');
    await this.#lockHeld;
    this.#cancelReady();
    this.#cancelReady = await offerBuiltInModel((lender) => this.api.lend(this.#tabLock, 'built-in', proxy(lender)));
  }
}

/** Takes a Web Lock for the page's life; resolves when it is held. */
function holdLock(name: string): Promise<void> {
  return new Promise((resolve) => {
    void navigator.locks.request(name, () => {
      resolve();
      return new Promise(() => {});
    });
  });
}
