import { RESPONSES_KIND } from '#shared/http/responses-socket.ts';
import type { Opening } from '#shared/link/hello.ts';
import { Mux } from '#shared/link/mux.ts';
import { AFAR_HEADER, ENDED_KIND, RECEIPTS_KIND } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';
import { textLink } from '#shared/link/text-link.ts';
import { accessPort, grant } from '#shared/ports/access.ts';
import { HEAD_HEADER } from '#shared/ports/journal.ts';
import { CLOSE } from '#shared/rpc/frames.ts';
import { z } from '#shared/rpc/zod.ts';
import { Turns } from '#shared/turns.ts';
import type { Host, Hosts } from '../server/hosts.ts';
import type { SharedParts } from '../server/vault.ts';
import { attachHost } from '../server/uplink.ts';
import type { NatsLink } from './nats-link.ts';
import { pipe } from './pipe.ts';

/** Kinds of streams that a bridge forwards to another's host. */
const CARRIED = new Set(['rpc', 'http', RESPONSES_KIND, RECEIPTS_KIND, ENDED_KIND]);
const MAX_GRANTS = 16 * 1024 * 1024;
/** Interval at which a retired link is checked for remaining streams. */
const LOOK_MS = 1000;

const RESTARTING = { code: CLOSE.handingOver, reason: 'the host that served the vault is no longer available' };
const grants = z.array(grant).max(10_000);

export interface RoutesDeps extends SharedParts {
  hosts: Hosts;
  log(line: string): void;
}

/**
 * Links between this bridge and the vault's other bridges. Over a link that it has dialled, its clients reach the other's host, which is
 * added to `Hosts`; over links that others have dialled, their clients reach this one's. Streams from a link only go to a host attached
 * here, never to another link.
 */
export class Routes {
  readonly #deps: RoutesDeps;
  readonly #taken = new Set<Mux>();
  /** For each dialled link, the stream on which its bridge sends the vault's access grants. */
  readonly #admitting = new WeakMap<Mux, Stream>();
  readonly #turns = new Turns();
  #dialled: { bridge: string; host: Promise<Host | undefined> } | undefined;
  /** Last logged reason why the active bridge can't be reached. */
  #trouble = '';

  constructor(deps: RoutesDeps) {
    this.#deps = deps;
  }

  /** Number of open links, and of streams on them. */
  get counts(): { links: number; streams: number } {
    const muxes = [...this.#taken];
    for (const mux of this.#remotes()) muxes.push(mux);
    return { links: muxes.length, streams: muxes.reduce((sum, { streams }) => sum + streams, 0) };
  }

  /** Number of other bridges linked to this one. */
  get others(): number {
    return this.#taken.size;
  }

  /** Whether that bridge's host can be reached. */
  async reaches(bridge: string): Promise<boolean> {
    const host = this.#dialled?.bridge === bridge ? await this.#dialled.host : undefined;
    return host !== undefined && this.#deps.hosts.has(host.mux);
  }

  /** Closes the link to a bridge that is certainly gone, so that its clients learn of it at once. */
  lose(bridge: string): void {
    if (this.#dialled?.bridge !== bridge) return;
    this.#dialled = undefined;
    for (const mux of this.#remotes()) mux.close(RESTARTING.code, RESTARTING.reason);
  }

  /**
   * Routes clients to that bridge's host (unless one of this bridge is active); null: to none. Keeps an existing link. Calls are
   * serialized.
   */
  use(bridge: string | null, dial: (bridge: string) => Promise<NatsLink>): Promise<void> {
    return this.#turns.run(() => this.#use(bridge, dial));
  }

  async #use(bridge: string | null, dial: (bridge: string) => Promise<NatsLink>): Promise<void> {
    const { hosts, log } = this.#deps;
    if (this.#dialled?.bridge === bridge && (await this.reaches(this.#dialled.bridge))) return;
    const earlier = this.#remotes();
    this.#dialled = undefined;
    if (bridge !== null) {
      const host = this.#attach(dial, bridge).catch((error: unknown) => {
        // The caller retries.
        const message = error instanceof Error ? error.message : String(error);
        if (message !== this.#trouble) log(`Couldn’t reach the bridge that serves the vault: ${message}`);
        this.#trouble = message;
        return undefined;
      });
      this.#dialled = { bridge, host };
      if (await host) this.#trouble = '';
    } else this.#trouble = '';
    // After the new link, which takes over without a gap.
    for (const mux of earlier) if (hosts.has(mux)) this.#retire(mux);
  }

  /** Accepts a link that another bridge has dialled. */
  take(link: NatsLink): void {
    const { hello } = this.#deps;
    const mux: Mux = new Mux(link, {
      ...{ side: 'acceptor', hello, schedule: setImmediate },
      onstream: (stream, opening) =>
        void this.#carry(stream, opening).catch((error: unknown) =>
          stream.reset(CLOSE.internal, error instanceof Error ? error.message : 'couldn’t forward the stream'),
        ),
    });
    this.#taken.add(mux);
    const unwatch = this.#tellGrants(mux);
    void mux.closed.then(() => {
      this.#taken.delete(mux);
      unwatch();
    });
  }

  /** Closes all links with a code that lets their clients retry. */
  close(): void {
    for (const mux of [...this.#taken, ...this.#remotes()]) mux.close(RESTARTING.code, RESTARTING.reason);
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
        this.#hearGrants(stream, (given) => void (hosts.holder === host && access.mirror(given)));
      } else stream.reset(CLOSE.policy, `unknown stream kind between bridges: "${kind}"`);
    };
    return attachHost(link, { kind: 'remote', side: 'dialer' }, { ...this.#deps, onstream, log });
  }

  /** Lets a link's existing streams finish; new ones use another link. */
  #retire(mux: Mux): void {
    this.#deps.hosts.leave(mux, CLOSE.handingOver, 'another bridge serves the vault');
    this.#admitting.get(mux)?.reset(CLOSE.normal, 'no longer needed');
    const end = (): void => {
      if (mux.streams === 0) mux.close(RESTARTING.code, RESTARTING.reason);
      else setTimeout(end, LOOK_MS).unref();
    };
    end();
  }

  async #carry(near: Stream, opening: Opening): Promise<void> {
    const { hosts, journal, timing } = this.#deps;
    if (!CARRIED.has(opening.kind)) return near.reset(CLOSE.policy, `unknown stream kind between bridges: "${opening.kind}"`);
    if (!hosts.own) await hosts.wait(timing.hostWaitMs);
    const mux = hosts.own?.mux;
    if (near.closed) return;
    if (!mux) return near.reset(RESTARTING.code, RESTARTING.reason);
    // Sequence numbers belong to one journal: use this one's, so that the caller sees everything in it.
    const headers: Record<string, string> = { ...opening.headers, [HEAD_HEADER]: String(journal.head), [AFAR_HEADER]: '1' };
    const far = mux.open({ ...opening, headers });
    pipe(near, far, {
      bulk: opening.kind !== 'rpc' && opening.kind !== RESPONSES_KIND,
      lost: (code, reason) => (hosts.has(mux) ? { code, reason } : RESTARTING),
    });
  }

  /** Sends this bridge's access grants, which its active host provides, so that the other bridge accepts the same clients. */
  #tellGrants(mux: Mux): () => void {
    const link = textLink(mux.open({ kind: accessPort.kind }), () => 0);
    link.receive({ message: () => {}, close: () => {} });
    return this.#deps.access.watch((given) => link.send(JSON.stringify(given)));
  }

  #hearGrants(stream: Stream, onheard: (given: z.infer<typeof grants>) => void): void {
    const link = textLink(stream, () => MAX_GRANTS);
    link.receive({ message: (text) => onheard(grants.parse(JSON.parse(text))), close: () => {} });
  }
}
