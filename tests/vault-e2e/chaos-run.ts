import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayClient } from '../../shared/client/client.ts';
import type { MethodName, MethodParams, MethodResult } from '../../shared/rpc/methods/index.ts';
import { type Perch, startPerch } from '../e2e/perch-process.ts';
import { addProvider, connectOutside } from '../e2e/outside-client.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream, type Upstream } from '../test-upstream.ts';
import { fetchHealth } from './bridge-health.ts';
import { type VaultCopy, readPageCopy, findDifferences, readJournalVersions, readManagedCopy } from './vault-copies.ts';
import { type Fault, FAULTS, injectFault, withTimeout } from './vault-faults.ts';
import { WriteLedger } from './write-ledger.ts';
import { ChaosMember } from './member.ts';
import { type WriterCall, runOperation, type OperationKind, OPERATIONS } from './writer-operations.ts';
import type { SeededRandom } from './seeded-random.ts';
import { MAX_INTERRUPTED_MS, ActiveRunTracker } from './active-runs.ts';

/** Longer than this an operation is not waited for before the next one begins. */
const STEP_MS = 250;
/** Nor for their answers when all is healed: a run may wait for another one's end. */
const ANSWER_MS = 1_000;
const HEAL_MS = 45_000;

/** Maximum kills of the managed Chromium per bridge, since restarts are delayed more each time; a new bridge resets the delay. */
const MANAGED_KILLS = 3;

/** Two persons' browsers, the managed Chromium and a program as writers on one bridge, and what may happen to them. */
export class ChaosRun implements AsyncDisposable {
  readonly perch: Perch;
  readonly members: readonly [ChaosMember, ChaosMember];
  readonly ledger = new WriteLedger();
  /** Log of actions, to diagnose a failure. */
  readonly log: string[] = [];
  readonly #upstream: Upstream;
  readonly #random: SeededRandom;
  #outside: GatewayClient | undefined;
  #faults: Promise<void>[] = [];
  readonly #operations = new Set<Promise<void>>();
  readonly #busy = new Set<ChaosMember | 'bridge'>();
  readonly #activeRuns = new ActiveRunTracker();
  #managedKills = 0;
  #count = 0;

  private constructor(perch: Perch, members: readonly [ChaosMember, ChaosMember], upstream: Upstream, random: SeededRandom) {
    this.perch = perch;
    this.members = members;
    this.#upstream = upstream;
    this.#random = random;
  }

  static async start(random: SeededRandom): Promise<ChaosRun> {
    const upstream = await startUpstream({ models: ['slow-50', 'slow-500'] });
    const perch = await startPerch();
    const members = [await ChaosMember.link('one', perch, perch.linkUrl), await ChaosMember.link('two', perch)] as const;
    const chaos = new ChaosRun(perch, members, upstream, random);
    await addProvider(await chaos.#client(), upstream.url);
    await chaos.heal();
    return chaos;
  }

  /** Some operations with faults in between. */
  async runRound(): Promise<void> {
    const random = this.#random;
    const steps = random.between(10, 15);
    const faults = new Set(Array.from({ length: random.between(2, 4) }, () => random.between(0, steps - 1)));
    for (let step = 0; step < steps; step++) {
      if (faults.has(step)) await this.#fault(random.weighted(FAULTS));
      await this.#operate(random.weighted(OPERATIONS));
    }
  }

  async #operate(kind: OperationKind): Promise<void> {
    const random = this.#random;
    const writer = random.pick([...this.members, null, null]);
    const n = ++this.#count;
    const chat = `chat-${random.between(1, 4)}`;
    this.log.push(`${n} ${writer?.name ?? 'outside'} ${kind} ${chat}`);
    const call: WriterCall = (method, params) => this.#call(writer, method, params);
    const running = runOperation(kind, { n, chat, random, ledger: this.ledger, call }).finally(() => this.#operations.delete(running));
    this.#operations.add(running);
    await withTimeout(running, STEP_MS);
  }

  async #call<M extends MethodName>(writer: ChaosMember | null, method: M, params: MethodParams<M>): Promise<MethodResult<M>> {
    return writer ? writer.call(method, params) : (await this.#client()).call(method, params);
  }

  async #client(): Promise<GatewayClient> {
    if (this.#outside) return this.#outside;
    const { client } = await connectOutside(this.perch);
    this.#outside ??= client;
    void client.closed.then(() => {
      if (this.#outside === client) this.#outside = undefined;
    });
    return client;
  }

  async #fault(kind: Fault): Promise<void> {
    const member = this.#random.pick(this.members);
    const ms = this.#random.between(300, 3_000);
    const whom = kind === 'bridge' || kind === 'managed' ? 'bridge' : member;
    if (this.#busy.has(whom)) return;
    if (kind === 'managed' && ++this.#managedKills > MANAGED_KILLS) kind = 'bridge';
    if (kind === 'bridge') this.#managedKills = 0;
    // Data that only this browser has would legitimately be lost.
    if (kind === 'wipe' && (this.#busy.size > 0 || !(await this.#canFault(member)))) return;
    this.log.push(`fault: ${kind} of ${whom === 'bridge' ? 'the bridge' : whom.name}, ${ms} ms`);
    this.#busy.add(whom);
    const over = injectFault(kind, { perch: this.perch, member, ms }).finally(() => {
      this.#busy.delete(whom);
      // Just after the bridge's start absence of a host cannot be determined.
      if (kind === 'bridge') this.#activeRuns.reset();
    });
    over.catch(() => {});
    this.#faults.push(over);
    if (kind !== 'wipe') return;
    await over;
  }

  /** Everything of this browser is in the journal, and nothing of it is under way. */
  async #canFault(member: ChaosMember): Promise<boolean> {
    await withTimeout(Promise.all(this.#operations), 2_000);
    const sync = (await member.getConnectionState())?.host?.sync;
    return this.#operations.size === 0 && sync?.state === 'synced' && sync.pending === 0;
  }

  /** Starts everything, waits until all copies are equal, and reports their errors. */
  async heal(): Promise<void> {
    const since = performance.now();
    await Promise.all(this.#faults);
    this.#faults = [];
    await waitFor(async () => (await fetchHealth(this.perch))?.hosts === 3, 'three hosts', HEAL_MS);
    await waitFor(
      async () => {
        const { hosts } = await (await this.#client()).call('sync.status', {}).catch(() => ({ hosts: [] }));
        return hosts.length === 3 && hosts.every(({ ready }) => ready);
      },
      'all hosts ready',
      HEAL_MS,
    );
    for (const member of this.members) await member.waitForSync();
    const attached = performance.now();
    await withTimeout(Promise.all(this.#operations), ANSWER_MS);
    let unlike: string[] = [];
    let copy: VaultCopy | undefined;
    let at = 0;
    const same = async (): Promise<boolean> => {
      at = performance.now();
      [unlike, copy] = await this.#compare();
      return unlike.length === 0;
    };
    try {
      await waitFor(same, 'all copies to be equal', HEAL_MS);
    } catch (error) {
      throw new Error(`copies differ:\n${unlike.join('\n')}`, { cause: error });
    }
    if (copy) this.#checkRuns(copy, at);
    this.log.push(
      `healed in ${Math.round(attached - since)} + ${Math.round(performance.now() - attached)} ms, ${this.#operations.size} under way`,
    );
  }

  async #compare(): Promise<[string[], VaultCopy | undefined]> {
    const [one, two, journal] = await Promise.all([
      readPageCopy(this.members[0].page),
      readPageCopy(this.members[1].page),
      readJournalVersions(this.perch.home),
    ]);
    if (!one || !two) return [['a browser has no data'], undefined];
    const found = [
      ...findDifferences(one.records, two.records).map((line) => `one / two: ${line}`),
      ...findDifferences(one.versions, journal).map((line) => `one / journal: ${line}`),
      ...findDifferences(two.versions, journal).map((line) => `two / journal: ${line}`),
    ];
    return [found, one];
  }

  #checkRuns(copy: VaultCopy, at: number): void {
    const complaints = this.ledger.findViolations(copy, at);
    if (complaints.length > 0) throw new Error(`after healing:\n${complaints.join('\n')}`);
    this.#activeRuns.checkRuns(copy);
  }

  /** Nothing is under way any more, nothing is missing, and the managed Chromium has the same. It is the end: the bridge stops. */
  async end(): Promise<void> {
    const [member] = this.members;
    const over = async (): Promise<boolean> => {
      const copy = await readPageCopy(member.page);
      return copy !== null && ActiveRunTracker.trackCopy(copy).length === 0;
    };
    await waitFor(over, 'the end of all runs', MAX_INTERRUPTED_MS);
    await withTimeout(Promise.all(this.#operations), 10_000);
    if (this.#operations.size > 0) throw new Error(`${this.#operations.size} calls were never answered`);
    await this.heal();
    const copy = await readPageCopy(member.page);
    const managed = await readManagedCopy(this.perch);
    if (!copy || !managed) throw new Error('a browser has no data');
    const unlike = [...findDifferences(copy.records, managed.records), ...findDifferences(copy.versions, managed.versions)];
    if (unlike.length > 0) throw new Error(`the managed Chromium has another copy:\n${unlike.join('\n')}`);
  }

  async toReport(): Promise<string> {
    const standings = await Promise.all(
      this.members.map(async (member) => `${member.name}: ${JSON.stringify(await withTimeout(member.getConnectionState(), 2_000))}`),
    );
    // The serving host keeps it, and it may change settings too.
    const files = ['config.json', 'config.synced.json', 'config.writing.json'].map((name) => {
      const path = join(this.perch.home, name);
      return existsSync(path) ? `${name}: ${JSON.stringify(JSON.parse(readFileSync(path, 'utf8')))}` : `${name} is not there`;
    });
    const bridge = this.perch.output.stderr.split('\n').slice(-40).join('\n');
    return [...this.log.slice(-60), ...standings, ...files, bridge].join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#outside?.close();
    await Promise.allSettled(this.#faults);
    for (const member of this.members) await member[Symbol.asyncDispose]();
    await this.perch[Symbol.asyncDispose]();
    await this.#upstream.close();
  }
}
