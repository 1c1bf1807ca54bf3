import { vaultKey } from '../../bridge/journal/vault-key.ts';
import { RecordSeal } from '../../bridge/sync/record-seal.ts';
import { type NodeIndex, NODES, type ThreeNodes, threeNodes } from '../../bridge/sync/tests/three-nodes.ts';
import type { GatewayClient } from '../../shared/client/client.ts';
import { streamsOf } from '../../shared/sync/nats/places.ts';
import type { Perch } from '../e2e/harness.ts';
import { addProvider } from '../e2e/outside.ts';
import { until } from '../support/gateway.ts';
import { startUpstream, type Upstream } from '../upstream.ts';
import { healthOf } from './bridge.ts';
import { gatewaysOver, GUIDE, servingOf } from './cluster-gateways.ts';
import { CLUSTER_FAULTS, type ClusterFault, hasWorker, strikeCluster } from './cluster-faults.ts';
import { type Copy, differences, journalCopy, journalVersions, managedCopy } from './copies.ts';
import { within } from './faults.ts';
import { Ledger } from './ledger.ts';
import { type Call, operate, OPERATIONS } from './operations.ts';
import type { Random } from './random.ts';
import { RunsUnderWay } from './runs-under-way.ts';
import { Ticks } from './ticks.ts';

/** Longer than this an operation is not waited for before the next one begins. */
const STEP_MS = 250;
/** Servers of a cluster that lost one another take their time, and bridges look once more after 20 s. */
const HEAL_MS = 120_000;
/** A job's lease is kept for a minute for a host that took it and died. */
const OVER_MS = 150_000;

/** `insist`: what one gateway does not answer is asked of the next one again, as a client of several does. */
const ALL = { ...OPERATIONS, job: 5, insist: 3 };
/** Maximum number of tries: before all is healed there may be no active host. */
const TRIES = 6;

interface Parts {
  nats: ThreeNodes;
  gateways: Perch[] & AsyncDisposable;
  upstream: Upstream;
  isCluster: boolean;
  random: Random;
}

/** Three gateways that share a vault over three NATS nodes, a writer at each, and what may happen to all of them. */
export class ClusterChaos implements AsyncDisposable {
  readonly ledger = new Ledger();
  readonly ticks: Ticks;
  /** Log of actions, to diagnose a failure. */
  readonly log: string[] = [];
  readonly #parts: Parts;
  readonly #clients = new Map<Perch, GatewayClient>();
  #stream = '';
  #faults: Promise<void>[] = [];
  readonly #operations = new Set<Promise<void>>();
  readonly #busy = new Set<string>();
  #count = 0;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.ticks = new Ticks(parts.upstream);
  }

  /** `isCluster`: one of the gateways has the host that serves; else each has its own. */
  static async begin(options: Pick<Parts, 'random' | 'isCluster'>): Promise<ClusterChaos> {
    await using stack = new AsyncDisposableStack();
    const upstream = stack.use(await startUpstream({ models: ['slow-50', 'slow-500'] }));
    const nats = stack.use(await threeNodes());
    const gateways = stack.use(await gatewaysOver(nats.ways, options.isCluster ? ['--cluster'] : []));
    const chaos = new ClusterChaos({ ...options, upstream, nats, gateways });
    const [first] = gateways;
    if (!first) throw new Error('there are three');
    chaos.#stream = streamsOf(new RecordSeal(await vaultKey(first.home)).vault).records;
    await chaos.#allReady();
    const client = await chaos.#client(first);
    await addProvider(client, upstream.url);
    // Model of jobs: their runs last for seconds.
    await client.call('config.patch', { patch: { chat: { model: 'local/slow-500' } } });
    await chaos.heal();
    stack.move();
    return chaos;
  }

  /** A job and some other operations, with faults in between. */
  async round(): Promise<void> {
    const { random } = this.#parts;
    await this.#operate('job');
    const steps = random.between(10, 15);
    const faults = new Set(Array.from({ length: random.between(3, 5) }, () => random.between(0, steps - 1)));
    for (let step = 0; step < steps; step++) {
      if (faults.has(step)) await this.#fault(random.weighted(CLUSTER_FAULTS));
      await this.#operate(random.weighted(ALL));
    }
  }

  async #operate(kind: keyof typeof ALL): Promise<void> {
    const { random, gateways } = this.#parts;
    const writer = random.pick(gateways);
    const n = ++this.#count;
    const chat = `chat-${random.between(1, 4)}`;
    const ms = random.between(300, 4_000);
    this.log.push(`${n} at ${gateways.indexOf(writer)} ${kind} ${kind === 'job' ? `in ${ms} ms` : chat}`);
    const call: Call = async (method, params) => (await this.#client(writer)).call(method, params);
    const work = async (): Promise<void> => {
      if (kind === 'job') return this.ticks.add(n, ms, call).catch(() => {});
      if (kind === 'insist')
        return this.ledger.send(`message ${n}`, chat, this.#insist(writer, { message: `message ${n}`, sessionId: chat }));
      return operate(kind, { n, chat, random, ledger: this.ledger, call });
    };
    const running = work().finally(() => this.#operations.delete(running));
    this.#operations.add(running);
    await within(running, STEP_MS);
  }

  async #insist(writer: Perch, { message, sessionId }: { message: string; sessionId: string }): Promise<{ messageId: string }> {
    const { gateways } = this.#parts;
    const from = gateways.indexOf(writer);
    for (let tries = 1; ; tries++) {
      const perch = gateways[(from + tries - 1) % gateways.length] ?? writer;
      try {
        const client = await this.#client(perch);
        return await client.call('chat.send', { message, sessionId, model: GUIDE, idempotencyKey: message });
      } catch (error) {
        if (tries === TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      }
    }
  }

  async #client(perch: Perch): Promise<GatewayClient> {
    const known = this.#clients.get(perch);
    if (known) return known;
    const client = await perch.client();
    this.#clients.get(perch)?.close();
    this.#clients.set(perch, client);
    void client.closed.then(() => {
      if (this.#clients.get(perch) === client) this.#clients.delete(perch);
    });
    return client;
  }

  async #fault(kind: ClusterFault): Promise<void> {
    const { random, gateways, nats } = this.#parts;
    const ms = random.between(300, 3_000);
    const drawn = random.pick(NODES);
    const leader = kind === 'leader' ? await nats.leader(this.#stream) : undefined;
    // In a cluster one of them has a worker.
    const worker = kind.endsWith('worker') ? NODES.find((one) => gateways.some((perch, at) => at === one && hasWorker(perch))) : undefined;
    const at: NodeIndex = leader ?? (this.#parts.isCluster ? worker : undefined) ?? drawn;
    const perch = gateways[at];
    if (!perch) throw new Error('there are three');
    const whom = /node|leader/.test(kind) ? `node ${at}` : `gateway ${at}`;
    if (this.#busy.has(whom)) return;
    this.log.push(`fault: ${kind} ${at}, ${ms} ms`);
    this.#busy.add(whom);
    const over = strikeCluster(kind, { perch, nats, at, ms }).finally(() => this.#busy.delete(whom));
    over.catch(() => {});
    this.#faults.push(over);
  }

  /** Starts and joins everything, waits until all journals are equal, and reports their errors. */
  async heal(): Promise<void> {
    const since = performance.now();
    await Promise.all(this.#faults);
    this.#faults = [];
    await this.#parts.nats.heal();
    await this.#allReady();
    const attached = performance.now();
    let unlike: string[] = [];
    let copy: Copy | undefined;
    let at = 0;
    const same = async (): Promise<boolean> => {
      at = performance.now();
      [unlike, copy] = await this.#compare();
      return unlike.length === 0;
    };
    await until(same, 'all journals to be equal', HEAL_MS).catch((error: unknown) => {
      throw new Error(`journals differ:\n${unlike.join('\n')}`, { cause: error });
    });
    const complaints = copy ? [...this.ledger.complaints(copy, at), ...this.ticks.complaints(copy, at)] : [];
    if (complaints.length > 0) throw new Error(`after healing:\n${complaints.join('\n')}`);
    this.log.push(
      `healed in ${Math.round(attached - since)} + ${Math.round(performance.now() - attached)} ms, ${this.#operations.size} under way`,
    );
  }

  async #allReady(): Promise<void> {
    const { gateways, isCluster } = this.#parts;
    if (isCluster) return this.#ready(await servingOf(gateways, HEAL_MS));
    for (const perch of gateways) {
      await until(async () => (await healthOf(perch))?.host === 'headless', 'the host of each gateway', HEAL_MS);
      await this.#ready(perch);
    }
  }

  /** Its own host has read its journal, and the journal has what the host wrote. */
  #ready(perch: Perch): Promise<void> {
    const isReady = async (): Promise<boolean> => {
      const client = await this.#client(perch).catch(() => undefined);
      const status = await client?.call('sync.status', {}).catch(() => undefined);
      return status?.sync.pending === 0 && status.hosts.length > 0 && status.hosts.every(({ ready }) => ready);
    };
    return until(isReady, 'a host that is ready', HEAL_MS);
  }

  async #compare(): Promise<[string[], Copy | undefined]> {
    const [first, ...others] = await Promise.all(this.#parts.gateways.map(({ home }) => journalCopy(home)));
    if (!first) throw new Error('there are three');
    const found = others.flatMap((other, at) => [
      ...differences(first.records, other.records).map((line) => `0 / ${at + 1}: ${line}`),
      ...differences(first.versions, other.versions).map((line) => `0 / ${at + 1}: ${line}`),
    ]);
    return [found, first];
  }

  /** Nothing is under way any more, nothing is missing, each job has been seen to, and the hosts have the same as the journals. It is the end: the gateways stop. */
  async end(): Promise<void> {
    const { gateways, isCluster } = this.#parts;
    const [first] = gateways;
    if (!first) throw new Error('there are three');
    let open: string[] = [];
    const over = async (): Promise<boolean> => {
      const copy = await journalCopy(first.home);
      open = [...RunsUnderWay.in(copy), ...this.ticks.open(copy)];
      return open.length === 0;
    };
    await until(over, 'the end of all runs', OVER_MS).catch((error: unknown) => {
      throw new Error(`these are not over: ${open.join(', ')}`, { cause: error });
    });
    await within(Promise.all(this.#operations), 10_000);
    if (this.#operations.size > 0) throw new Error(`${this.#operations.size} calls were never answered`);
    await this.heal();
    const serving = isCluster ? [await servingOf(gateways)] : gateways;
    for (const perch of gateways) if (!serving.includes(perch)) await perch.kill('SIGTERM');
    const found: string[] = [];
    let before: Copy | undefined;
    for (const perch of serving) {
      const managed = await managedCopy(perch);
      if (!managed) throw new Error('a browser has no data');
      found.push(...differences(managed.versions, await journalVersions(perch.home)));
      // Each host computes a session's summary row itself, and all are equal.
      if (before) found.push(...differences(before.records, managed.records));
      before = managed;
    }
    if (found.length > 0) throw new Error(`the managed Chromiums and their journals differ:\n${found.join('\n')}`);
  }

  async story(): Promise<string> {
    const { gateways, nats } = this.#parts;
    const healths = await Promise.all(gateways.map((perch) => within(healthOf(perch), 2_000)));
    const outputs = gateways.map(
      (perch, at) => `gateway ${at}: ${JSON.stringify(healths[at])}\n${perch.output.stderr.split('\n').slice(-25).join('\n')}`,
    );
    const nodes = nats.nodes.map((node, at) => `node ${at} ${node.story()}`);
    return [...this.log.slice(-80), ...outputs, ...nodes].join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients.values()) client.close();
    await Promise.allSettled(this.#faults);
    await this.#parts.gateways[Symbol.asyncDispose]();
    await this.#parts.nats[Symbol.asyncDispose]();
    await this.#parts.upstream.close();
  }
}
