import { loadVaultKey } from '../../bridge/journal/vault-key.ts';
import { RecordSeal } from '../../bridge/sync/record-seal.ts';
import { type NodeIndex, NODES, type ThreeNodes, startThreeNodes } from '../../bridge/sync/tests/three-nodes.ts';
import type { GatewayClient } from '../../shared/client/client.ts';
import { getStreamNames } from '../../shared/sync/nats/vault-streams.ts';
import type { Perch } from '../e2e/perch-process.ts';
import { addProvider } from '../e2e/outside-client.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream, type Upstream } from '../test-upstream.ts';
import { fetchHealth } from './bridge-health.ts';
import { startGatewaysOver, GUIDE_MODEL, findActiveGateway } from './cluster-gateways.ts';
import { CLUSTER_FAULTS, type ClusterFault, hasManagedBrowser, injectClusterFault } from './cluster-faults.ts';
import { type VaultCopy, findDifferences, readJournalCopy, readJournalVersions, readManagedCopy } from './vault-copies.ts';
import { withTimeout } from './vault-faults.ts';
import { WriteLedger } from './write-ledger.ts';
import { type WriterCall, runOperation, OPERATIONS } from './writer-operations.ts';
import type { SeededRandom } from './seeded-random.ts';
import { ActiveRunTracker } from './active-runs.ts';
import { JobTicks } from './job-ticks.ts';

/** Longer than this an operation is not waited for before the next one begins. */
const STEP_MS = 250;
/** Servers of a cluster that lost one another take their time, and bridges look once more after 20 s. */
const HEAL_MS = 120_000;
/** A job's lease is kept for a minute for a host that took it and died. */
const RUN_TIMEOUT_MS = 150_000;

/** `insist`: what one gateway does not answer is asked of the next one again, as a client of several does. */
const ALL_GATEWAYS = { ...OPERATIONS, job: 5, insist: 3 };
/** Maximum number of tries: before all is healed there may be no active host. */
const MAX_TRIES = 6;

interface ClusterParts {
  nats: ThreeNodes;
  gateways: Perch[] & AsyncDisposable;
  upstream: Upstream;
  isCluster: boolean;
  random: SeededRandom;
}

/** Three gateways that share a vault over three NATS nodes, a writer at each, and what may happen to all of them. */
export class ClusterChaosRun implements AsyncDisposable {
  readonly ledger = new WriteLedger();
  readonly ticks: JobTicks;
  /** Log of actions, to diagnose a failure. */
  readonly log: string[] = [];
  readonly #parts: ClusterParts;
  readonly #clients = new Map<Perch, GatewayClient>();
  #stream = '';
  #faults: Promise<void>[] = [];
  readonly #operations = new Set<Promise<void>>();
  readonly #busy = new Set<string>();
  #count = 0;

  private constructor(parts: ClusterParts) {
    this.#parts = parts;
    this.ticks = new JobTicks(parts.upstream);
  }

  /** `isCluster`: one of the gateways has the host that serves; else each has its own. */
  static async start(options: Pick<ClusterParts, 'random' | 'isCluster'>): Promise<ClusterChaosRun> {
    await using stack = new AsyncDisposableStack();
    const upstream = stack.use(await startUpstream({ models: ['slow-50', 'slow-500'] }));
    const nats = stack.use(await startThreeNodes());
    const gateways = stack.use(await startGatewaysOver(nats.machineUrls, options.isCluster ? ['--cluster'] : []));
    const chaos = new ClusterChaosRun({ ...options, upstream, nats, gateways });
    const [first] = gateways;
    if (!first) throw new Error('there are three');
    chaos.#stream = getStreamNames(new RecordSeal(await loadVaultKey(first.home)).vault).records;
    await chaos.#waitForAllReady();
    const client = await chaos.#client(first);
    await addProvider(client, upstream.url);
    // Model of jobs: their runs last for seconds.
    await client.call('config.patch', { patch: { chat: { model: 'local/slow-500' } } });
    await chaos.heal();
    stack.move();
    return chaos;
  }

  /** A job and some other operations, with faults in between. */
  async runRound(): Promise<void> {
    const { random } = this.#parts;
    await this.#operate('job');
    const steps = random.between(10, 15);
    const faults = new Set(Array.from({ length: random.between(3, 5) }, () => random.between(0, steps - 1)));
    for (let step = 0; step < steps; step++) {
      if (faults.has(step)) await this.#fault(random.weighted(CLUSTER_FAULTS));
      await this.#operate(random.weighted(ALL_GATEWAYS));
    }
  }

  async #operate(kind: keyof typeof ALL_GATEWAYS): Promise<void> {
    const { random, gateways } = this.#parts;
    const writer = random.pick(gateways);
    const n = ++this.#count;
    const chat = `chat-${random.between(1, 4)}`;
    const ms = random.between(300, 4_000);
    this.log.push(`${n} at ${gateways.indexOf(writer)} ${kind} ${kind === 'job' ? `in ${ms} ms` : chat}`);
    const call: WriterCall = async (method, params) => (await this.#client(writer)).call(method, params);
    const work = async (): Promise<void> => {
      if (kind === 'job') return this.ticks.add(n, ms, call).catch(() => {});
      if (kind === 'insist')
        return this.ledger.send(`message ${n}`, chat, this.#retryOnGateways(writer, { message: `message ${n}`, sessionId: chat }));
      return runOperation(kind, { n, chat, random, ledger: this.ledger, call });
    };
    const running = work().finally(() => this.#operations.delete(running));
    this.#operations.add(running);
    await withTimeout(running, STEP_MS);
  }

  async #retryOnGateways(writer: Perch, { message, sessionId }: { message: string; sessionId: string }): Promise<{ messageId: string }> {
    const { gateways } = this.#parts;
    const from = gateways.indexOf(writer);
    for (let tries = 1; ; tries++) {
      const perch = gateways[(from + tries - 1) % gateways.length] ?? writer;
      try {
        const client = await this.#client(perch);
        return await client.call('chat.send', { message, sessionId, model: GUIDE_MODEL, idempotencyKey: message });
      } catch (error) {
        if (tries === MAX_TRIES) throw error;
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
    const worker = kind.endsWith('worker')
      ? NODES.find((one) => gateways.some((perch, at) => at === one && hasManagedBrowser(perch)))
      : undefined;
    const at: NodeIndex = leader ?? (this.#parts.isCluster ? worker : undefined) ?? drawn;
    const perch = gateways[at];
    if (!perch) throw new Error('there are three');
    const whom = /node|leader/.test(kind) ? `node ${at}` : `gateway ${at}`;
    if (this.#busy.has(whom)) return;
    this.log.push(`fault: ${kind} ${at}, ${ms} ms`);
    this.#busy.add(whom);
    const over = injectClusterFault(kind, { perch, nats, at, ms }).finally(() => this.#busy.delete(whom));
    over.catch(() => {});
    this.#faults.push(over);
  }

  /** Starts and joins everything, waits until all journals are equal, and reports their errors. */
  async heal(): Promise<void> {
    const since = performance.now();
    await Promise.all(this.#faults);
    this.#faults = [];
    await this.#parts.nats.heal();
    await this.#waitForAllReady();
    const attached = performance.now();
    let unlike: string[] = [];
    let copy: VaultCopy | undefined;
    let at = 0;
    const same = async (): Promise<boolean> => {
      at = performance.now();
      [unlike, copy] = await this.#compare();
      return unlike.length === 0;
    };
    await waitFor(same, 'all journals to be equal', HEAL_MS).catch((error: unknown) => {
      throw new Error(`journals differ:\n${unlike.join('\n')}`, { cause: error });
    });
    const complaints = copy ? [...this.ledger.findViolations(copy, at), ...this.ticks.findViolations(copy, at)] : [];
    if (complaints.length > 0) throw new Error(`after healing:\n${complaints.join('\n')}`);
    this.log.push(
      `healed in ${Math.round(attached - since)} + ${Math.round(performance.now() - attached)} ms, ${this.#operations.size} under way`,
    );
  }

  async #waitForAllReady(): Promise<void> {
    const { gateways, isCluster } = this.#parts;
    if (isCluster) return this.#isReady(await findActiveGateway(gateways, HEAL_MS));
    for (const perch of gateways) {
      await waitFor(async () => (await fetchHealth(perch))?.host === 'headless', 'the host of each gateway', HEAL_MS);
      await this.#isReady(perch);
    }
  }

  /** Its own host has read its journal, and the journal has what the host wrote. */
  #isReady(perch: Perch): Promise<void> {
    const isReady = async (): Promise<boolean> => {
      const client = await this.#client(perch).catch(() => undefined);
      const status = await client?.call('sync.status', {}).catch(() => undefined);
      return status?.sync.pending === 0 && status.hosts.length > 0 && status.hosts.every(({ ready }) => ready);
    };
    return waitFor(isReady, 'a host that is ready', HEAL_MS);
  }

  async #compare(): Promise<[string[], VaultCopy | undefined]> {
    const [first, ...others] = await Promise.all(this.#parts.gateways.map(({ home }) => readJournalCopy(home)));
    if (!first) throw new Error('there are three');
    const found = others.flatMap((other, at) => [
      ...findDifferences(first.records, other.records).map((line) => `0 / ${at + 1}: ${line}`),
      ...findDifferences(first.versions, other.versions).map((line) => `0 / ${at + 1}: ${line}`),
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
      const copy = await readJournalCopy(first.home);
      open = [...ActiveRunTracker.trackCopy(copy), ...this.ticks.findOpen(copy)];
      return open.length === 0;
    };
    await waitFor(over, 'the end of all runs', RUN_TIMEOUT_MS).catch((error: unknown) => {
      throw new Error(`these are not over: ${open.join(', ')}`, { cause: error });
    });
    await withTimeout(Promise.all(this.#operations), 10_000);
    if (this.#operations.size > 0) throw new Error(`${this.#operations.size} calls were never answered`);
    await this.heal();
    const serving = isCluster ? [await findActiveGateway(gateways)] : gateways;
    for (const perch of gateways) if (!serving.includes(perch)) await perch.kill('SIGTERM');
    const found: string[] = [];
    let before: VaultCopy | undefined;
    for (const perch of serving) {
      const managed = await readManagedCopy(perch);
      if (!managed) throw new Error('a browser has no data');
      found.push(...findDifferences(managed.versions, await readJournalVersions(perch.home)));
      // Each host computes a session's summary row itself, and all are equal.
      if (before) found.push(...findDifferences(before.records, managed.records));
      before = managed;
    }
    if (found.length > 0) throw new Error(`the managed Chromiums and their journals differ:\n${found.join('\n')}`);
  }

  async toReport(): Promise<string> {
    const { gateways, nats } = this.#parts;
    const healths = await Promise.all(gateways.map((perch) => withTimeout(fetchHealth(perch), 2_000)));
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
