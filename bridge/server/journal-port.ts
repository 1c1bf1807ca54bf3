import { serveCalls, type PortServer, type CallHandlers } from '#shared/link/port-calls.ts';
import type { Stream } from '#shared/link/stream.ts';
import { textLink } from '#shared/link/text-link.ts';
import { type JournalContracts, journalContracts, type JournalEvents } from '#shared/ports/journal-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { BrowserTransport } from '#shared/sync/nats/browser-transport.ts';
import { type Journal, JournalError, JournalFullError } from '../journal/journal.ts';
import type { Host, HostRegistry } from './hosts.ts';
import type { HostPresence } from './host-presence.ts';

/** Maximum bytes per call: a batch and the overhead of JSON within JSON. */
const MAX_CALL_BYTES = 64 * 1024 * 1024;

export interface JournalPortDeps {
  journal: Journal;
  hosts: HostRegistry;
  presence: HostPresence;
  /** Key that seals the vault's secrets: 256 bits, base64url. */
  vaultKey: string;
  /** How a browser can reach the vault's cluster while this bridge is away; null if it can't. */
  browserWay(): Promise<BrowserTransport | null>;
  log(line: string): void;
}

/** A host's stream to the journal. */
interface ReplicaStream {
  /** Undefined while messages that arrived before the answerer existed are being handled. */
  answerer: PortServer<JournalEvents> | undefined;
  /** Parameters of the host's `journal.open`. */
  openParams: { origin: string; schema: number } | undefined;
  /** Position up to which the host has been notified, or has pushed itself. Undefined until it has opened the journal. */
  notifiedPosition: number | undefined;
  /** Position up to which the host also receives its own records: it opened the journal from the start, so it has none of them. */
  ownRecordsUntil: number;
  readonly pushes: Set<Promise<unknown>>;
}

/** Serves the journal to the attached hosts and notifies each of the others' changes (shared/ports/journal-port.ts). */
export class JournalPort {
  readonly #deps: JournalPortDeps;
  readonly #replicas = new Map<Host, ReplicaStream>();
  /** Newest schema of all writers known here. */
  #schema = 0;
  #problem = '';

  constructor(deps: JournalPortDeps) {
    this.#deps = deps;
    deps.journal.on('changed', this.#changed);
    deps.journal.on('replaced', this.#replaced);
    deps.hosts.on('role', (host, holder) => this.#replicas.get(host)?.answerer?.send('host.role', { holder }));
  }

  /** Serves a host's stream and closes an earlier one of the same host. */
  serve(stream: Stream, host: Host): void {
    const { hosts, log } = this.#deps;
    const replica: ReplicaStream = {
      answerer: undefined,
      openParams: undefined,
      notifiedPosition: undefined,
      ownRecordsUntil: 0,
      pushes: new Set(),
    };
    const earlier = this.#replicas.get(host);
    this.#replicas.set(host, replica);
    earlier?.answerer?.close(undefined, 'the journal was reopened');
    const onclose = (): void => {
      if (this.#replicas.get(host) !== replica) return;
      this.#replicas.delete(host);
      if (hosts.has(host.mux)) hosts.mark(host, 'catching-up');
    };
    const link = textLink(stream, () => MAX_CALL_BYTES);
    const fault = (error: unknown): void => log(`The journal port failed: ${error instanceof Error ? error.message : String(error)}`);
    replica.answerer = serveCalls<JournalContracts, JournalEvents>(link, journalContracts, this.#handlers(host, replica), {
      fault,
      onclose,
    });
  }

  /** Stops listening to the journal. */
  close(): void {
    this.#deps.journal.off('changed', this.#changed);
    this.#deps.journal.off('replaced', this.#replaced);
  }

  #handlers(host: Host, replica: ReplicaStream): CallHandlers<JournalContracts> {
    const { journal, hosts, presence, vaultKey } = this.#deps;
    const origin = (): string => {
      if (!replica.openParams) throw new RpcError('INVALID_PARAMS', 'The first call must be journal.open with the identity of the host');
      return replica.openParams.origin;
    };
    /** Returns the origin of a host that may read and write. */
    const current = (): string => {
      const ownOrigin = origin();
      if (this.#isOutdated(replica)) throw createOutdatedError();
      return ownOrigin;
    };
    return {
      'journal.open': async ({ origin: own, schema, name, position }) => {
        if (host.identity && host.identity.origin !== own)
          throw new RpcError('INVALID_PARAMS', 'This host already identified itself as another one');
        hosts.identify(host, own, name);
        hosts.mark(host, 'catching-up');
        replica.openParams = { origin: own, schema };
        replica.notifiedPosition = undefined;
        const opened = await this.#runOperation(journal.open({ origin: own, schema, position }));
        replica.notifiedPosition = opened.head;
        replica.ownRecordsUntil = opened.position.seq === 0 ? opened.head : 0;
        this.#raiseSchema(opened.schema);
        // After the response, which says up to where the host must read.
        setImmediate(() => this.#notify(replica, journal.head));
        const cluster = await this.#browserWay();
        return { ...opened, vaultKey, shared: journal.examine !== undefined, ...(cluster !== undefined && { cluster }) };
      },
      'journal.pull': async ({ after, limit }) => {
        const ownOrigin = current();
        return this.#runOperation(journal.pull(after, limit, after < replica.ownRecordsUntil ? undefined : ownOrigin));
      },
      'journal.push': async ({ records }) => {
        const pusher = current();
        const pushing = this.#runOperation(journal.push(records, pusher));
        replica.pushes.add(pushing);
        try {
          const pushed = await pushing;
          this.#logProblem(pushed.low ? DISK_FULL_MESSAGE : '');
          // The journal creates copies of versions that lost a conflict, which the pusher has to read.
          if (replica.notifiedPosition !== undefined && pushed.before <= replica.notifiedPosition && pushed.conflicts === 0) {
            replica.notifiedPosition = Math.max(replica.notifiedPosition, pushed.last);
          }
          if (replica.openParams && records.length > 0) this.#raiseSchema(replica.openParams.schema);
          return pushed;
        } finally {
          replica.pushes.delete(pushing);
        }
      },
      'journal.ready': async () => {
        current();
        hosts.mark(host, 'ready');
        if (hosts.holder !== host) replica.answerer?.send('host.role', { holder: false });
        return {};
      },
      'host.leave': async () => {
        hosts.mark(host, 'leaving');
        return {};
      },
      'journal.info': async () => ({ journal: await this.#runOperation(journal.info()), hosts: hosts.list() }),
      'journal.cluster': async () => ({ cluster: (await journal.examine?.()) ?? null }),
      'lease.take': async (params) => {
        const lease = { ...params, holder: origin(), present: presence.now() };
        return { fence: await this.#runOperation(journal.takeLease(lease)) };
      },
      'lease.release': async ({ name, fence }) => {
        await this.#runOperation(journal.releaseLease(name, origin(), fence));
        return {};
      },
      'host.signal': async ({ to, payload }) => {
        const from = origin();
        const target = to === undefined ? hosts.holder : hosts.find(to);
        const answerer = target && this.#replicas.get(target)?.answerer;
        answerer?.send('host.signal', { from, payload });
        return { delivered: answerer !== undefined };
      },
    };
  }

  /** Undefined if the credentials can't be read now: the host keeps the previous value. */
  async #browserWay(): Promise<BrowserTransport | null | undefined> {
    try {
      return await this.#deps.browserWay();
    } catch (error) {
      this.#deps.log(`Couldn’t tell browsers how to reach the cluster: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }

  readonly #changed = (head: number): void => {
    for (const replica of this.#replicas.values()) {
      // Does not notify a host of its own pushes, which are known once they are answered.
      if (replica.pushes.size === 0) this.#notify(replica, head);
      else void Promise.allSettled(replica.pushes).then(() => this.#notify(replica, head));
    }
  };

  #notify(replica: ReplicaStream, changed: number): void {
    if (replica.notifiedPosition === undefined || replica.notifiedPosition >= changed || this.#isOutdated(replica)) return;
    const head = Math.max(changed, this.#deps.journal.head);
    replica.notifiedPosition = head;
    replica.answerer?.send('journal.changed', { head });
  }

  readonly #replaced = (reason: string): void => {
    this.#schema = 0;
    this.#deps.hosts.unready();
    for (const replica of this.#replicas.values()) {
      replica.notifiedPosition = undefined;
      replica.answerer?.send('journal.replaced', { reason });
    }
  };

  #isOutdated({ openParams }: ReplicaStream): boolean {
    return openParams !== undefined && openParams.schema < this.#schema;
  }

  #raiseSchema(schema: number): void {
    this.#schema = Math.max(this.#schema, schema);
    for (const [host, replica] of this.#replicas) if (this.#isOutdated(replica)) this.#deps.hosts.mark(host, 'outdated');
  }

  /** Runs an operation of the journal and words its errors for the user. Each problem is logged once. */
  async #runOperation<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      const described = describeError(error);
      if (described) this.#logProblem(described.message);
      throw described ?? error;
    }
  }

  #logProblem(problem: string): void {
    if (problem === this.#problem) return;
    this.#deps.log(problem || 'The journal works again');
    this.#problem = problem;
  }
}

/** Message when the journal is using its reserved space. */
const DISK_FULL_MESSAGE =
  'Storage is full: the disk with the journal has no space left. Free up space. Until then, only deletions are saved';

function describeError(error: unknown): RpcError | undefined {
  if (error instanceof JournalFullError) {
    const message = `The disk with the journal is full (${error.message}). Free up space. Until then, changes are only saved in the browser`;
    return new RpcError('INTERNAL_ERROR', message, { details: { reason: 'journal-full' } }, { cause: error });
  }
  if (error instanceof JournalError) {
    return new RpcError(
      'INTERNAL_ERROR',
      `The journal can’t be used: ${error.message}`,
      { details: { reason: 'journal-failed' } },
      { cause: error },
    );
  }
  return undefined;
}

const createOutdatedError = (): RpcError =>
  new RpcError('INVALID_PARAMS', 'The data was written by a newer version of Perch. Reload the app to update it.', {
    details: { reason: 'outdated' },
  });
