import { RESPONSES_KIND } from '#shared/http/responses-socket.ts';
import type { Opening } from '#shared/link/hello.ts';
import { Mux } from '#shared/link/mux.ts';
import { VIA_BRIDGE_HEADER, SPLICE_FAILURE_KIND, USAGE_RECEIPTS_KIND } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';
import { textLink } from '#shared/link/text-link.ts';
import { accessPort, accessGrant } from '#shared/ports/access-port.ts';
import { MIN_HEAD_HEADER } from '#shared/ports/journal-streams.ts';
import { CLOSE_CODES } from '#shared/rpc/frames.ts';
import { z } from '#shared/rpc/zod.ts';
import { Mutex } from '#shared/async/mutex.ts';
import type { Host, HostRegistry } from '../server/hosts.ts';
import type { SharedVaultServices } from '../server/serve-vault.ts';
import { attachHost } from '../server/uplink.ts';
import type { NatsLink } from './nats-link.ts';
import { pipeStreams } from './pipe-streams.ts';

/** Kinds of streams that a bridge forwards to another's host. */
const FORWARDED_KINDS = new Set(['rpc', 'http', RESPONSES_KIND, USAGE_RECEIPTS_KIND, SPLICE_FAILURE_KIND]);
const MAX_GRANTS = 16 * 1024 * 1024;
/** Interval at which a retired link is checked for remaining streams. */
const CHECK_MS = 1000;

const ROUTE_RESTARTING = { code: CLOSE_CODES.handingOver, reason: 'the host that served the vault is no longer available' };
const grantsSchema = z.array(accessGrant).max(10_000);

interface ClusterRoutesDeps extends SharedVaultServices {
  hosts: HostRegistry;
  log(line: string): void;
}

/**
 * Links between this bridge and the vault's other bridges. Over a link that it has dialled, its clients reach the other's host, which is
 * added to `HostRegistry`; over links that others have dialled, their clients reach this one's. Streams from a link only go to a host attached
 * here, never to another link.
 */
export class ClusterRoutes {
  readonly #deps: ClusterRoutesDeps;
  readonly #acceptedLinks = new Set<Mux>();
  /** For each dialled link, the stream on which its bridge sends the vault's access grants. */
  readonly #admitting = new WeakMap<Mux, Stream>();
  readonly #mutex = new Mutex();
  #dialled: { bridge: string; host: Promise<Host | undefined> } | undefined;
  /** Last logged reason why the active bridge can't be reached. */
  #loggedProblem = '';

  constructor(deps: ClusterRoutesDeps) {
    this.#deps = deps;
  }

  /** Number of open links, and of streams on them. */
  get counts(): { links: number; streams: number } {
    const muxes = [...this.#acceptedLinks];
    for (const mux of this.#remotes()) muxes.push(mux);
    return { links: muxes.length, streams: muxes.reduce((sum, { streams }) => sum + streams, 0) };
  }

  /** Number of other bridges linked to this one. */
  get listOthers(): number {
    return this.#acceptedLinks.size;
  }

  /** Whether that bridge's host can be reached. */
  async reaches(bridge: string): Promise<boolean> {
    const host = this.#dialled?.bridge === bridge ? await this.#dialled.host : undefined;
    return host !== undefined && this.#deps.hosts.has(host.mux);
  }

  /** Closes the link to a bridge that is certainly gone, so that its clients learn of it at once. */
  dropHost(bridge: string): void {
    if (this.#dialled?.bridge !== bridge) return;
    this.#dialled = undefined;
    for (const mux of this.#remotes()) mux.close(ROUTE_RESTARTING.code, ROUTE_RESTARTING.reason);
  }

  /**
   * Routes clients to that bridge's host (unless one of this bridge is active); null: to none. Keeps an existing link. Calls are
   * serialized.
   */
  useHost(bridge: string | null, dial: (bridge: string) => Promise<NatsLink>): Promise<void> {
    return this.#mutex.run(() => this.#switchTo(bridge, dial));
  }

  async #switchTo(bridge: string | null, dial: (bridge: string) => Promise<NatsLink>): Promise<void> {
    const { hosts, log } = this.#deps;
    if (this.#dialled?.bridge === bridge && (await this.reaches(this.#dialled.bridge))) return;
    const earlier = this.#remotes();
    this.#dialled = undefined;
    if (bridge !== null) {
      const host = this.#attach(dial, bridge).catch((error: unknown) => {
        // The caller retries.
        const message = error instanceof Error ? error.message : String(error);
        if (message !== this.#loggedProblem) log(`Couldn’t reach the bridge that serves the vault: ${message}`);
        this.#loggedProblem = message;
        return undefined;
      });
      this.#dialled = { bridge, host };
      if (await host) this.#loggedProblem = '';
    } else this.#loggedProblem = '';
    // After the new link, which takes over without a gap.
    for (const mux of earlier) if (hosts.has(mux)) this.#retire(mux);
  }

  /** Accepts a link that another bridge has dialled. */
  acceptLink(link: NatsLink): void {
    const { hello } = this.#deps;
    const mux: Mux = new Mux(link, {
      ...{ side: 'acceptor', hello, schedule: setImmediate },
      onstream: (stream, opening) =>
        void this.#forward(stream, opening).catch((error: unknown) =>
          stream.reset(CLOSE_CODES.internal, error instanceof Error ? error.message : 'couldn’t forward the stream'),
        ),
    });
    this.#acceptedLinks.add(mux);
    const unwatch = this.#sendGrants(mux);
    void mux.closed.then(() => {
      this.#acceptedLinks.delete(mux);
      unwatch();
    });
  }

  /** Closes all links with a code that lets their clients retry. */
  close(): void {
    for (const mux of [...this.#acceptedLinks, ...this.#remotes()]) mux.close(ROUTE_RESTARTING.code, ROUTE_RESTARTING.reason);
  }

  #remotes(): Mux[] {
    return this.#deps.hosts.remotes.map(({ mux }) => mux);
  }

  async #attach(dial: (bridge: string) => Promise<NatsLink>, bridge: string): Promise<Host | undefined> {
    const { hosts, access, log } = this.#deps;
    const link = await dial(bridge);
    const onstream = (stream: Stream, { kind }: Opening, host: Host): void => {
      if (kind === accessPort.kind) {
        this.#admitting.set(host.mux, stream);
        this.#receiveGrants(stream, (grants) => void (hosts.holder === host && access.mirror(grants)));
      } else stream.reset(CLOSE_CODES.policy, `unknown stream kind between bridges: "${kind}"`);
    };
    return attachHost(link, { kind: 'remote', side: 'dialer' }, { ...this.#deps, onstream, log });
  }

  /** Lets a link's existing streams finish; new ones use another link. */
  #retire(mux: Mux): void {
    this.#deps.hosts.leave(mux, CLOSE_CODES.handingOver, 'another bridge serves the vault');
    this.#admitting.get(mux)?.reset(CLOSE_CODES.normal, 'no longer needed');
    const end = (): void => {
      if (mux.streams === 0) mux.close(ROUTE_RESTARTING.code, ROUTE_RESTARTING.reason);
      else setTimeout(end, CHECK_MS).unref();
    };
    end();
  }

  async #forward(local: Stream, opening: Opening): Promise<void> {
    const { hosts, journal, timing } = this.#deps;
    if (!FORWARDED_KINDS.has(opening.kind))
      return local.reset(CLOSE_CODES.policy, `unknown stream kind between bridges: "${opening.kind}"`);
    if (!hosts.own) await hosts.wait(timing.hostWaitMs);
    const mux = hosts.own?.mux;
    if (local.closed) return;
    if (!mux) return local.reset(ROUTE_RESTARTING.code, ROUTE_RESTARTING.reason);
    // Sequence numbers belong to one journal: use this one's, so that the caller sees everything in it.
    const headers: Record<string, string> = { ...opening.headers, [MIN_HEAD_HEADER]: String(journal.head), [VIA_BRIDGE_HEADER]: '1' };
    const remote = mux.open({ ...opening, headers });
    pipeStreams(local, remote, {
      bulk: opening.kind !== 'rpc' && opening.kind !== RESPONSES_KIND,
      lost: (code, reason) => (hosts.has(mux) ? { code, reason } : ROUTE_RESTARTING),
    });
  }

  /** Sends this bridge's access grants, which its active host provides, so that the other bridge accepts the same clients. */
  #sendGrants(mux: Mux): () => void {
    const link = textLink(mux.open({ kind: accessPort.kind }), () => 0);
    link.receive({ message: () => {}, close: () => {} });
    return this.#deps.access.watch((grants) => link.send(JSON.stringify(grants)));
  }

  #receiveGrants(stream: Stream, onGrants: (grants: z.infer<typeof grantsSchema>) => void): void {
    const link = textLink(stream, () => MAX_GRANTS);
    link.receive({ message: (text) => onGrants(grantsSchema.parse(JSON.parse(text))), close: () => {} });
  }
}
