import { MAX_BODY_BYTES } from '#shared/http/body-limits.ts';
import { RESPONSES_KIND } from '#shared/http/responses-socket.ts';
import { type Opening, PAIRING_CODE_HEADER, SCHEMA_VERSION } from '#shared/link/hello.ts';
import { serveHttp } from '#shared/link/stream-http.ts';
import { type Link, portLink } from '#shared/link/link.ts';
import { VIA_BRIDGE_HEADER, SPLICE_FAILURE_KIND, FORWARD_KIND, USAGE_RECEIPTS_KIND, WITHDRAW_KIND } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';
import { textLink } from '#shared/link/text-link.ts';
import { MIN_HEAD_HEADER, HANDOFF_STATE_HEADER, HANDOFF_HEADER } from '#shared/ports/journal-streams.ts';
import { CLOSE_CODES, PROTOCOL_LIMITS } from '#shared/rpc/frames.ts';
import { joinScopes, LEVELS } from '#shared/rpc/scopes.ts';
import type { BrowserTransport } from '#shared/sync/nats/browser-transport.ts';
import type { HostApi, HostStatus, PageTask, PageWorkerProvider } from '#shared/ports/host-api.ts';
import { systemClock } from '#shared/async/clock.ts';
import { createGateway } from '../gateway.ts';
import type { Gateway } from '../gateway-options.ts';
import { createUplinkBridge } from '../ports/uplink-bridge.ts';
import { createFetch } from '../ports/create-fetch.ts';
import { serveStreamEnds, serveReceipts } from '../ports/serve-receipts.ts';
import type { StreamReplica } from '../nats/stream-records.ts';
import { openVault, type IndexedDbVault, acquireEpoch } from '../storage/open-vault.ts';
import { Replicator } from '../sync/replicator.ts';
import type { ClusterSharing } from './cluster-sharing.ts';
import { getEnvironment } from './environment.ts';
import { toBrowserName } from '#shared/link/browser-name.ts';
import { CapabilityRegistry } from './capability-registry.ts';
import { holdLockForLife, acquireOwnership } from './ownership.ts';
import type { HostOptions } from './host-options.ts';
import { PageTracker } from './page-tracker.ts';
import { prefetchChunks } from './prefetch-chunks.ts';
import { acceptRelays, relayToOwner } from './relay.ts';
import { Uplink } from './uplink.ts';

const DRAIN_MS = 28_000;
const PREFETCH_DELAY_MS = 300;
/** Delay after the start before the search index is maintained, so that pages get what they need first. */
const INDEX_MAINTENANCE_DELAY_MS = 3_000;
const SUPERSEDED_MESSAGE = 'A newer version of Perch has taken over';

/** A worker's host: owns the data under the lock, serves the pages' ports, and maintains the connection to the bridge. */
export class Host implements HostApi {
  readonly #lock: string;
  readonly #lockHeld: Promise<void>;
  readonly #options: HostOptions;
  #gateway: Promise<Gateway>;
  readonly #uplink: Uplink;
  readonly #watchers = new Set<(status: HostStatus) => void>();
  #status: HostStatus = { state: 'starting', uplink: 'off', problem: null, sync: SYNC_OFF };
  #replicator: Replicator | undefined;
  #sharing: Promise<ClusterSharing> | undefined;
  #createSharing: (() => Promise<ClusterSharing>) | undefined;
  readonly #pages = new PageTracker({
    cancelLeave: () => void this.#replicator?.cancelLeave(),
    leave: async () => this.#replicator?.leave(),
    isServedElsewhere: () => this.#status.sync.role === 'replica',
    isBusy: () => this.#uplink.isBusy,
    onAbandoned: () => this.#uplink.detach(),
  });
  readonly #capabilities: CapabilityRegistry;
  readonly #waitingForOwner = Promise.withResolvers<'waiting'>();
  /** Functions that cut the connections of relayed pages, so that they reconnect. */
  readonly #relays = new Set<() => void>();
  #uplinkCredential: Parameters<HostApi['attach']>[0] | null = null;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#capabilities = new CapabilityRegistry(options.origin);
    this.#lock = `perch-worker:${crypto.randomUUID()}`;
    this.#uplink = new Uplink({
      url: `${options.origin.replace(/^http/, 'ws')}/uplink`,
      build: options.build,
      onstream: (stream, opening) => void this.#onstream(stream, opening),
      onjournal: (journal) => this.#replicator?.attach(journal),
      onstate: (uplink, problem) => {
        this.#setStatus({ uplink, problem: this.#status.state === 'failed' ? this.#status.problem : problem });
        void this.#sharing?.then((sharing) => sharing.setUplinkState(uplink));
      },
    });
    this.#lockHeld = holdLockForLife(this.#lock);
    this.#gateway = this.#launch();
  }

  async identify(): Promise<{ build: string; lock: string }> {
    // Wait until the lock is held: a page that requests it would be granted a free lock, and take the worker for dead.
    await this.#lockHeld;
    return { build: this.#options.build, lock: this.#lock };
  }

  async open(port: MessagePort, tabLock: string): Promise<void> {
    this.#pages.markPresent(tabLock);
    const gateway = this.#getGateway();
    const link = portLink<string>(port);
    // If a worker of the same build in another tab owns the data, this one only relays.
    if ((await Promise.race([gateway, this.#waitingForOwner.promise])) === 'waiting')
      this.#relays.add(relayToOwner(link, tabLock, this.#options.nameSuffix));
    else this.#accept(await gateway, link, tabLock);
  }

  #accept(gateway: Gateway, link: Link<string>, tabLock: string): void {
    gateway.accept(link, { principal: 'app:local', scopes: LEVELS, challenged: false, socket: false });
    void navigator.locks.request(tabLock, () => link.close(CLOSE_CODES.goingAway, 'the tab was closed'));
  }

  async attach(credential: Parameters<HostApi['attach']>[0]): Promise<void> {
    await this.#getGateway();
    this.#uplinkCredential = credential;
    void this.#replicator?.expectJournal();
    this.#uplink.attach(credential);
  }

  async detach(): Promise<void> {
    this.#uplinkCredential = null;
    this.#uplink.detach();
  }

  async ready(): Promise<void> {
    await this.#getGateway();
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
    this.#capabilities.unregisterPage(tabLock);
    this.#pages.markAway(tabLock);
  }

  async newVaultWords(): Promise<string> {
    return (await this.#requireSharing()).createRecoveryPhrase();
  }

  async share(transport: BrowserTransport, words: string): Promise<void> {
    await (await this.#requireSharing()).join(transport, words);
  }

  async shareNoLonger(): Promise<void> {
    await (await this.#requireSharing()).leave();
  }

  async lend(tabLock: string, work: PageTask, lender: PageWorkerProvider): Promise<void> {
    this.#capabilities.register(tabLock, work, lender);
  }

  async returning(tabLock: string): Promise<void> {
    this.#pages.markPresent(tabLock);
    if (this.#uplinkCredential) this.#uplink.attach(this.#uplinkCredential);
  }

  /** The gateway. If it failed to start, tries again, since the cause (such as a full disk) may be gone. */
  #getGateway(): Promise<Gateway> {
    if (this.#status.state === 'failed') this.#gateway = this.#launch();
    return this.#gateway;
  }

  /** Cluster sharing for the vault. Rejects in the demo, which has none. */
  async #requireSharing(): Promise<ClusterSharing> {
    await this.#getGateway();
    const sharing = await this.#getSharing();
    if (!sharing) throw new Error('The demo can’t be shared.');
    return sharing;
  }

  #getSharing(): Promise<ClusterSharing | undefined> {
    this.#sharing ??= this.#createSharing?.();
    return this.#sharing ?? Promise.resolve(undefined);
  }

  #launch(): Promise<Gateway> {
    this.#setStatus({ state: 'starting', problem: null });
    const gateway = this.#start();
    gateway.catch((error: unknown) => {
      this.#setStatus({ state: 'failed', problem: error instanceof Error ? error.message : String(error) });
    });
    return gateway;
  }

  async #start(): Promise<Gateway> {
    const { nameSuffix } = this.#options;
    const name = `perch${nameSuffix}`;
    const ownership = await acquireOwnership({
      name: `perch-gateway${nameSuffix}`,
      build: this.#options.build,
      ondrain: () => this.#drain(),
      onwaiting: () => this.#waitingForOwner.resolve('waiting'),
      onlost: () => this.#onSuperseded(SUPERSEDED_MESSAGE),
    });
    let vault: IndexedDbVault | undefined;
    try {
      const external = await this.#options.outside?.();
      const epoch = await acquireEpoch(name);
      vault = await openVault({
        name,
        epoch,
        clock: systemClock,
        onclosed: () => this.#onSuperseded(SUPERSEDED_MESSAGE),
        onfault: this.#createFaultLogger('storage'),
      });
      const replicator = new Replicator({
        replica: vault.sync,
        clock: systemClock,
        schema: SCHEMA_VERSION,
        name: toBrowserName(navigator),
        onfault: this.#createFaultLogger('sync'),
        onBridgeVault: (key, cluster) =>
          void this.#getSharing()
            .then((sharing) => sharing?.applyBridgeSettings(key, cluster))
            .catch(this.#createFaultLogger('cluster')),
      });
      await replicator.start();
      const gateway = await createGateway({
        vault,
        sync: replicator,
        bridge:
          external?.bridge ??
          createUplinkBridge(
            (port) => this.#uplink.getMux(port),
            (listener) => this.#uplink.watch(listener),
          ),
        documents: this.#capabilities.documents,
        painter: async (picture, scale) => (await import('../../paint/export-image.ts')).exportImage(picture, { scale }),
        ...(external
          ? {}
          : { browserModels: this.#capabilities.models, builtIn: this.#capabilities.builtIn, audio: this.#capabilities.audio }),
        memoryStore: async (workspace) =>
          new (await import('../../library/database-index.ts')).DatabaseIndex(`perch-memory ${workspace}${nameSuffix}`),
        clock: systemClock,
        version: this.#options.build,
        environment: getEnvironment(globalThis, () => this.#uplinkCredential?.id ?? ''),
        fetch:
          external?.fetch ??
          createFetch({
            getAllowedOrigins: () => gateway.origins(),
            getEgress: () => this.#uplink.getMux('egress'),
            isBridgeAway: () => this.#uplink.isAway,
          }),
        changed: () => void this.#uplink.getMux(WITHDRAW_KIND)?.open({ kind: WITHDRAW_KIND }).end(),
      });
      await external?.seed(gateway, vault);
      this.#replicator = replicator;
      const { sync: replica } = vault;
      if (!external) this.#createSharing = () => this.#openSharing(replica, replicator);
      replicator.watch(() => this.#onSyncChange(gateway, replicator));
      this.#onSyncChange(gateway, replicator);
      this.#setStatus({ origin: vault.origin });
      acceptRelays(nameSuffix, (link, tabLock) => this.#accept(gateway, link, tabLock));
      for (const closeRelay of this.#relays) closeRelay();
      this.#relays.clear();
      this.#setStatus({ state: 'serving', problem: null });
      // After everything that the page needs to be usable.
      setTimeout(() => void this.#getSharing().catch(this.#createFaultLogger('cluster')), PREFETCH_DELAY_MS);
      setTimeout(() => void prefetchChunks().then((complete) => this.#setStatus({ complete })), PREFETCH_DELAY_MS);
      const { maintain } = vault;
      systemClock.after(
        INDEX_MAINTENANCE_DELAY_MS,
        () => void maintain().catch((error: unknown) => console.error('[perch search]', error)),
      );
      return gateway;
    } catch (error) {
      await vault?.close();
      ownership.release();
      throw error;
    }
  }

  async #openSharing(replica: StreamReplica, replicator: Replicator): Promise<ClusterSharing> {
    const { ClusterSharing } = await import('./cluster-sharing.ts');
    return new ClusterSharing({
      ...{ name: `perch-cluster${this.#options.nameSuffix}`, replica, replicator, schema: SCHEMA_VERSION, clock: systemClock },
      uplink: this.#status.uplink,
      onstatus: (cluster) => this.#setStatus({ cluster }),
    });
  }

  /** Returns a function that logs errors, once there is a gateway with a log. */
  #createFaultLogger(component: string): (error: unknown) => void {
    return (error) =>
      void this.#gateway.then(
        (gateway) => gateway.logError(component, error),
        () => console.error(`[perch ${component}]`, error),
      );
  }

  #onSyncChange(gateway: Gateway, replicator: Replicator): void {
    const sync = replicator.state();
    const { role } = this.#status.sync;
    if (sync.role === 'replica' && role !== 'replica') gateway.handOver();
    else if (sync.role !== 'replica' && role === 'replica') gateway.resume();
    this.#setStatus({ sync });
  }

  async #onstream(stream: Stream, opening: Opening): Promise<void> {
    const { kind, principal, headers } = opening;
    const scopes = joinScopes(opening);
    const head = Number(headers[MIN_HEAD_HEADER] ?? 0);
    if (kind === 'rpc') {
      const proof = headers['x-perch-proof'];
      const link = textLink(stream, () => PROTOCOL_LIMITS.maxPayload);
      const gateway = await this.#catchUpTo(head);
      const moved = headers[HANDOFF_STATE_HEADER];
      const pairingCode = headers[PAIRING_CODE_HEADER];
      gateway.accept(link, {
        ...{ principal, scopes, challenged: true, socket: true },
        ...(proof === undefined ? {} : { proof }),
        ...(moved === undefined ? {} : { moved }),
        ...(pairingCode === undefined ? {} : { pairingCode }),
        ...(headers[HANDOFF_HEADER] === undefined ? {} : { movable: link }),
      });
    } else if (kind === 'http') {
      serveHttp(stream, opening, this.#options.origin, async (request) => {
        const gateway = await this.#catchUpTo(head);
        const canSplice = headers[VIA_BRIDGE_HEADER] === undefined && this.#uplink.getMux(FORWARD_KIND);
        return gateway.fetch(request, { id: principal, scopes }, canSplice ? stream : undefined);
      });
    } else if (kind === RESPONSES_KIND) {
      const link = textLink(stream, () => MAX_BODY_BYTES);
      const gateway = await this.#catchUpTo(head);
      await gateway
        .acceptResponses(link, { id: principal, scopes }, headers)
        .catch(() => link.close(CLOSE_CODES.internal, 'part of the gateway couldn’t be loaded'));
    } else if (kind === USAGE_RECEIPTS_KIND) serveReceipts(stream, opening, () => this.#gateway);
    else if (kind === SPLICE_FAILURE_KIND) serveStreamEnds(stream, opening, () => this.#gateway);
    else stream.reset(CLOSE_CODES.protocolError, `unknown stream kind ${kind}`);
  }

  /** Applies writes acknowledged by another host before responding. */
  async #catchUpTo(head: number): Promise<Gateway> {
    const gateway = await this.#gateway;
    await this.#replicator?.waitForPosition(head);
    await gateway.whenSettled();
    return gateway;
  }

  async #drain(): Promise<void> {
    this.#setStatus({ state: 'draining' });
    const gateway = await this.#gateway.catch(() => null);
    await gateway?.drain(DRAIN_MS);
    await (await this.#sharing?.catch(() => undefined))?.close();
    await this.#replicator?.close();
    this.#uplink.detach(CLOSE_CODES.handingOver, 'a newer version is taking over');
    await gateway?.close();
    this.#setStatus({ state: 'superseded', problem: SUPERSEDED_MESSAGE });
    // Release the lock and send the pages' messages first: the worker itself ends a moment later.
    setTimeout(this.#options.close, 100);
  }

  /** Called when another worker owns the data: pending work here must not be written. */
  #onSuperseded(problem: string): void {
    this.#setStatus({ state: 'superseded', problem });
    this.#uplink.detach();
    void this.#sharing?.then((sharing) => sharing.close()).catch(() => {});
    void this.#gateway
      .then((gateway) => gateway.close())
      .catch(() => {})
      .finally(() => setTimeout(this.#options.close, 100));
  }

  #setStatus(change: Partial<HostStatus>): void {
    this.#status = { ...this.#status, ...change };
    for (const watcher of this.#watchers) watcher(this.#status);
  }
}

const SYNC_OFF: HostStatus['sync'] = { state: 'off', role: 'none', pending: 0, lastSyncAt: null, progress: null, problem: null };
