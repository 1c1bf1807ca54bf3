import { MAX_BODY_BYTES } from '#shared/http/body-limits.ts';
import { RESPONSES_KIND } from '#shared/http/responses-socket.ts';
import { type Opening, PAIRING_CODE_HEADER, SCHEMA_VERSION } from '#shared/link/hello.ts';
import { serveHttp } from '#shared/link/http.ts';
import { type Link, portLink } from '#shared/link/link.ts';
import { AFAR_HEADER, ENDED_KIND, FORWARD_PORT, RECEIPTS_KIND, WITHDRAW_PORT } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';
import { textLink } from '#shared/link/text-link.ts';
import { HEAD_HEADER, JOURNAL_PORT, MOVED_HEADER, MOVES_HEADER } from '#shared/ports/journal.ts';
import { CLOSE, LIMITS } from '#shared/rpc/frames.ts';
import { joinScopes, LEVELS } from '#shared/rpc/scopes.ts';
import type { BrowserWay } from '#shared/sync/nats/way.ts';
import type { HostApi, HostStatus, LentWork, WorkerLender } from '#shared/ports/host.ts';
import { systemClock } from '../core/clock.ts';
import { createGateway } from '../core/gateway.ts';
import type { Gateway } from '../core/gateway-options.ts';
import { bridgeOver } from '../ports/bridge.ts';
import { createFetch } from '../ports/fetch.ts';
import { serveEnded, serveReceipts } from '../ports/receipts.ts';
import type { LocalCopy } from '../nats/stream-records.ts';
import { openVault, type StoredVault, takeEpoch } from '../storage/vault.ts';
import { journalLine } from '../sync/journal-line.ts';
import { Replicator } from '../sync/replicator.ts';
import type { ClusterSharing } from './cluster-sharing.ts';
import { environmentOf } from './environment.ts';
import { hostName } from '#shared/link/host-name.ts';
import { Lenders } from './lenders.ts';
import { holdForLife, takeOwnership } from './lock.ts';
import type { HostOptions } from './outside.ts';
import { Pages } from './pages.ts';
import { loadParts } from './parts.ts';
import { acceptRelayed, relay } from './relay.ts';
import { Uplink } from './uplink.ts';

const DRAIN_MS = 28_000;
const PARTS_MS = 300;
/** Delay after the start before the search index is maintained, so that pages get what they need first. */
const TEND_MS = 3_000;
const SUPERSEDED = 'A newer version of Perch has taken over';

/** A worker's host: owns the data under the lock, serves the pages' ports, and maintains the connection to the bridge. */
export class Host implements HostApi {
  readonly #lock: string;
  readonly #locked: Promise<void>;
  readonly #options: HostOptions;
  #gateway: Promise<Gateway>;
  readonly #uplink: Uplink;
  readonly #watchers = new Set<(status: HostStatus) => void>();
  #status: HostStatus = { state: 'starting', uplink: 'off', problem: null, sync: OFF };
  #replicator: Replicator | undefined;
  #sharing: Promise<ClusterSharing> | undefined;
  #share: (() => Promise<ClusterSharing>) | undefined;
  readonly #pages = new Pages({
    stay: () => void this.#replicator?.stay(),
    leave: async () => this.#replicator?.leave(),
    isServed: () => this.#status.sync.role === 'replica',
    isBusy: () => this.#uplink.busy,
    ongone: () => this.#uplink.detach(),
  });
  readonly #lenders: Lenders;
  readonly #waiting = Promise.withResolvers<'waiting'>();
  /** Functions that cut the connections of relayed pages, so that they reconnect. */
  readonly #relayed = new Set<() => void>();
  #uplinkCredential: Parameters<HostApi['attach']>[0] | null = null;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#lenders = new Lenders(options.origin);
    this.#lock = `perch-worker:${crypto.randomUUID()}`;
    this.#uplink = new Uplink({
      url: `${options.origin.replace(/^http/, 'ws')}/uplink`,
      build: options.build,
      onstream: (stream, opening) => void this.#onstream(stream, opening),
      onattached: (mux) => this.#replicator && this.#uplink.lending(JOURNAL_PORT) && this.#replicator.attach(journalLine(mux)),
      onstate: (uplink, problem) => {
        this.#tell({ uplink, problem: this.#status.state === 'failed' ? this.#status.problem : problem });
        void this.#sharing?.then((sharing) => sharing.uplink(uplink));
      },
    });
    this.#locked = holdForLife(this.#lock);
    this.#gateway = this.#begin();
  }

  async identify(): Promise<{ build: string; lock: string }> {
    // Wait until the lock is held: a page that requests it would be granted a free lock, and take the worker for dead.
    await this.#locked;
    return { build: this.#options.build, lock: this.#lock };
  }

  async open(port: MessagePort, tabLock: string): Promise<void> {
    this.#pages.here(tabLock);
    const gateway = this.#serving();
    const link = portLink<string>(port);
    // If a worker of the same build in another tab owns the data, this one only relays.
    if ((await Promise.race([gateway, this.#waiting.promise])) === 'waiting') this.#relayed.add(relay(link, tabLock, this.#options.mark));
    else this.#accept(await gateway, link, tabLock);
  }

  #accept(gateway: Gateway, link: Link<string>, tabLock: string): void {
    gateway.accept(link, { principal: 'app:local', scopes: LEVELS, challenged: false, socket: false });
    void navigator.locks.request(tabLock, () => link.close(CLOSE.goingAway, 'the tab was closed'));
  }

  async attach(credential: Parameters<HostApi['attach']>[0]): Promise<void> {
    await this.#serving();
    this.#uplinkCredential = credential;
    void this.#replicator?.expectJournal();
    this.#uplink.attach(credential);
  }

  async detach(): Promise<void> {
    this.#uplinkCredential = null;
    this.#uplink.detach();
  }

  async ready(): Promise<void> {
    await this.#serving();
  }

  async watch(callback: (status: HostStatus) => void): Promise<void> {
    this.#watchers.add(callback);
    callback(this.#status);
  }

  async ping(): Promise<void> {}

  async end(): Promise<void> {
    this.#uplink.detach();
    this.#options.close();
  }

  async leaving(tabLock: string): Promise<void> {
    this.#lenders.gone(tabLock);
    this.#pages.away(tabLock);
  }

  async newVaultWords(): Promise<string> {
    return (await this.#shared()).newWords();
  }

  async share(way: BrowserWay, words: string): Promise<void> {
    await (await this.#shared()).join(way, words);
  }

  async shareNoLonger(): Promise<void> {
    await (await this.#shared()).leave();
  }

  async lend(tabLock: string, work: LentWork, lender: WorkerLender): Promise<void> {
    this.#lenders.lend(tabLock, work, lender);
  }

  async returning(tabLock: string): Promise<void> {
    this.#pages.here(tabLock);
    if (this.#uplinkCredential) this.#uplink.attach(this.#uplinkCredential);
  }

  /** The gateway. If it failed to start, tries again, since the cause (such as a full disk) may be gone. */
  #serving(): Promise<Gateway> {
    if (this.#status.state === 'failed') this.#gateway = this.#begin();
    return this.#gateway;
  }

  /** Cluster sharing for the vault. Rejects in the demo, which has none. */
  async #shared(): Promise<ClusterSharing> {
    await this.#serving();
    const sharing = await this.#cluster();
    if (!sharing) throw new Error('The demo can’t be shared.');
    return sharing;
  }

  #cluster(): Promise<ClusterSharing | undefined> {
    this.#sharing ??= this.#share?.();
    return this.#sharing ?? Promise.resolve(undefined);
  }

  #begin(): Promise<Gateway> {
    this.#tell({ state: 'starting', problem: null });
    const gateway = this.#start();
    gateway.catch((error: unknown) => {
      this.#tell({ state: 'failed', problem: error instanceof Error ? error.message : String(error) });
    });
    return gateway;
  }

  async #start(): Promise<Gateway> {
    const { mark } = this.#options;
    const name = `perch${mark}`;
    const ownership = await takeOwnership({
      name: `perch-gateway${mark}`,
      build: this.#options.build,
      ondrain: () => this.#drain(),
      onwaiting: () => this.#waiting.resolve('waiting'),
      onlost: () => this.#lose(SUPERSEDED),
    });
    let vault: StoredVault | undefined;
    try {
      const epoch = await takeEpoch(name);
      vault = await openVault({ name, epoch, clock: systemClock, onclosed: () => this.#lose(SUPERSEDED), onfault: this.#noter('storage') });
      const replicator = new Replicator({
        replica: vault.sync,
        clock: systemClock,
        schema: SCHEMA_VERSION,
        name: hostName(navigator),
        onfault: this.#noter('sync'),
        onbridge: (key, cluster) =>
          void this.#cluster()
            .then((sharing) => sharing?.hand(key, cluster))
            .catch(this.#noter('cluster')),
      });
      await replicator.start();
      const outside = await this.#options.outside?.();
      const gateway = await createGateway({
        vault,
        sync: replicator,
        bridge:
          outside?.bridge ??
          bridgeOver(
            (port) => this.#uplink.lending(port),
            (listener) => this.#uplink.watch(listener),
          ),
        documents: this.#lenders.documents,
        painter: async (picture, scale) => (await import('../../paint/export.ts')).exportImage(picture, { scale }),
        ...(outside ? {} : { browserModels: this.#lenders.models, builtIn: this.#lenders.builtIn }),
        memoryStore: async (workspace) =>
          new (await import('../../library/database-index.ts')).DatabaseIndex(`perch-memory ${workspace}${mark}`),
        clock: systemClock,
        version: this.#options.build,
        environment: environmentOf(globalThis, () => this.#uplinkCredential?.id ?? ''),
        fetch:
          outside?.fetch ??
          createFetch({
            allowed: () => gateway.origins(),
            egress: () => this.#uplink.lending('egress'),
            isBridgeAway: () => this.#uplink.away,
          }),
        changed: () => void this.#uplink.lending(WITHDRAW_PORT)?.open({ kind: WITHDRAW_PORT }).end(),
      });
      await outside?.seed(gateway, vault);
      this.#replicator = replicator;
      const { sync: copy } = vault;
      if (!outside) this.#share = () => this.#sharingOf(copy, replicator);
      replicator.watch(() => this.#synced(gateway, replicator));
      this.#synced(gateway, replicator);
      this.#tell({ origin: vault.origin });
      acceptRelayed(mark, (link, tabLock) => this.#accept(gateway, link, tabLock));
      for (const cut of this.#relayed) cut();
      this.#relayed.clear();
      this.#tell({ state: 'serving', problem: null });
      // After everything that the page needs to be usable.
      setTimeout(() => void this.#cluster().catch(this.#noter('cluster')), PARTS_MS);
      setTimeout(() => void loadParts().then((complete) => this.#tell({ complete })), PARTS_MS);
      const { tend } = vault;
      systemClock.after(TEND_MS, () => void tend().catch((error: unknown) => console.error('[perch search]', error)));
      return gateway;
    } catch (error) {
      await vault?.close();
      ownership.release();
      throw error;
    }
  }

  async #sharingOf(copy: LocalCopy, replicator: Replicator): Promise<ClusterSharing> {
    const { ClusterSharing } = await import('./cluster-sharing.ts');
    return new ClusterSharing({
      ...{ name: `perch-cluster${this.#options.mark}`, copy, replicator, schema: SCHEMA_VERSION, clock: systemClock },
      uplink: this.#status.uplink,
      onstatus: (cluster) => this.#tell({ cluster }),
    });
  }

  /** Returns a function that logs errors, once there is a gateway with a log. */
  #noter(component: string): (error: unknown) => void {
    return (error) =>
      void this.#gateway.then(
        (gateway) => gateway.noted(component, error),
        () => console.error(`[perch ${component}]`, error),
      );
  }

  #synced(gateway: Gateway, replicator: Replicator): void {
    const sync = replicator.state();
    const { role } = this.#status.sync;
    if (sync.role === 'replica' && role !== 'replica') gateway.handOver();
    else if (sync.role !== 'replica' && role === 'replica') gateway.resume();
    this.#tell({ sync });
  }

  async #onstream(stream: Stream, opening: Opening): Promise<void> {
    const { kind, principal, headers } = opening;
    const scopes = joinScopes(opening);
    const head = Number(headers[HEAD_HEADER] ?? 0);
    if (kind === 'rpc') {
      const proof = headers['x-perch-proof'];
      const link = textLink(stream, () => LIMITS.maxPayload);
      const gateway = await this.#upTo(head);
      const moved = headers[MOVED_HEADER];
      const pairingCode = headers[PAIRING_CODE_HEADER];
      gateway.accept(link, {
        ...{ principal, scopes, challenged: true, socket: true },
        ...(proof === undefined ? {} : { proof }),
        ...(moved === undefined ? {} : { moved }),
        ...(pairingCode === undefined ? {} : { pairingCode }),
        ...(headers[MOVES_HEADER] === undefined ? {} : { movable: link }),
      });
    } else if (kind === 'http') {
      serveHttp(stream, opening, this.#options.origin, async (request) => {
        const gateway = await this.#upTo(head);
        const splices = headers[AFAR_HEADER] === undefined && this.#uplink.lending(FORWARD_PORT);
        return gateway.fetch(request, { id: principal, scopes }, splices ? stream : undefined);
      });
    } else if (kind === RESPONSES_KIND) {
      const link = textLink(stream, () => MAX_BODY_BYTES);
      const gateway = await this.#upTo(head);
      await gateway
        .acceptResponses(link, { id: principal, scopes }, headers)
        .catch(() => link.close(CLOSE.internal, 'part of the gateway couldn’t be loaded'));
    } else if (kind === RECEIPTS_KIND) serveReceipts(stream, opening, () => this.#gateway);
    else if (kind === ENDED_KIND) serveEnded(stream, opening, () => this.#gateway);
    else stream.reset(CLOSE.protocolError, `unknown stream kind ${kind}`);
  }

  /** Applies writes acknowledged by another host before responding. */
  async #upTo(head: number): Promise<Gateway> {
    const gateway = await this.#gateway;
    await this.#replicator?.reached(head);
    await gateway.settled();
    return gateway;
  }

  async #drain(): Promise<void> {
    this.#tell({ state: 'draining' });
    const gateway = await this.#gateway.catch(() => null);
    await gateway?.drain(DRAIN_MS);
    await (await this.#sharing?.catch(() => undefined))?.close();
    await this.#replicator?.close();
    this.#uplink.detach(CLOSE.handingOver, 'a newer version is taking over');
    await gateway?.close();
    this.#tell({ state: 'superseded', problem: SUPERSEDED });
    // Release the lock and send the pages' messages first: the worker itself ends a moment later.
    setTimeout(this.#options.close, 100);
  }

  /** Called when another worker owns the data: pending work here must not be written. */
  #lose(problem: string): void {
    this.#tell({ state: 'superseded', problem });
    this.#uplink.detach();
    void this.#sharing?.then((sharing) => sharing.close()).catch(() => {});
    void this.#gateway
      .then((gateway) => gateway.close())
      .catch(() => {})
      .finally(() => setTimeout(this.#options.close, 100));
  }

  #tell(change: Partial<HostStatus>): void {
    this.#status = { ...this.#status, ...change };
    for (const watcher of this.#watchers) watcher(this.#status);
  }
}

const OFF: HostStatus['sync'] = { state: 'off', role: 'none', pending: 0, lastSyncAt: null, progress: null, problem: null };
