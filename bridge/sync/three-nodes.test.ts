import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { RecordSeal } from './record-seal.ts';
import { WriteHistory, write } from './tests/write-history.ts';
import { awaitAgreement, startMachine, type TestMachine, createSettings } from './tests/test-machine.ts';
import { hasNats } from './tests/nats-server.ts';
import { type NodeIndex, NODES, type ThreeNodes, startThreeNodes } from './tests/three-nodes.ts';

/** Number of vaults that go through the same faults at once, with three writers each, one per round. */
const VAULTS = 5;
const ROUNDS = process.env.PERCH_LONG ? 200 : 20;
const HEALED_MS = 120_000;
/** Longer than a round. */
const LEASE_MS = 3_600_000;

const index = fc.constantFrom(...NODES);
const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ write }) },
  { weight: 1, arbitrary: fc.constant({ restart: true as const }) },
  { weight: 4, arbitrary: fc.record({ tick: fc.nat(5) }) },
  { weight: 6, arbitrary: fc.record({ pause: fc.integer({ min: 1, max: 600 }) }) },
);
const steps = fc.array(step, { minLength: 4, maxLength: 14 });
/** `node`: index of one of the three, or the leader of the first vault's stream. */
const fault = fc.record({
  kind: fc.constantFrom('kill', 'pause', 'isolate', 'cut off'),
  node: fc.oneof(index, fc.constant('leader' as const)),
  lasts: fc.integer({ min: 200, max: 5000 }),
  isHealed: fc.boolean(),
});
type Fault = typeof fault extends fc.Arbitrary<infer T> ? T : never;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

class Vault implements AsyncDisposable {
  readonly key = randomBytes(32).toString('base64url');
  readonly stream = `PERCH_${new RecordSeal(this.key).vault}`;
  readonly #nats: ThreeNodes;
  readonly #machines: TestMachine[] = [];
  readonly #history = new WriteHistory();
  /** Machines that got the lease of each tick of a job, and so ran it. */
  readonly #ran = new Map<string, Set<string>>();

  constructor(nats: ThreeNodes) {
    this.#nats = nats;
  }

  async start(): Promise<void> {
    for (const at of NODES) this.#machines.push(await this.#machine(at));
    await awaitAgreement(this.#machines, 0);
  }

  write(all: readonly (readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[])[]): Promise<unknown> {
    return Promise.all(
      this.#machines.map(async (machine, at) => {
        for (const action of all[at] ?? []) {
          if ('pause' in action) await sleep(action.pause);
          else if ('restart' in action) await machine.restart();
          else if ('tick' in action) await this.#run(machine, `w${at}`, `cron:job@${action.tick}`);
          else await this.#history.write(machine, `w${at}`, action.write);
        }
      }),
    );
  }

  /** Runs the job if the lease is granted, like web/gateway/automation/cron/job-coordinator.ts. */
  async #run(machine: TestMachine, holder: string, name: string): Promise<void> {
    const fence = await machine.journal.takeLease({ name, holder, ttlMs: LEASE_MS, present: [holder] });
    if (fence !== null) this.#ran.set(name, (this.#ran.get(name) ?? new Set()).add(holder));
  }

  async check(): Promise<void> {
    for (const [name, holders] of this.#ran) expect([...holders], name).toHaveLength(1);
    const isWhole = this.#history.isIn.bind(this.#history);
    await awaitAgreement(this.#machines, isWhole, HEALED_MS).catch((error: unknown) => {
      throw new Error(`${this.#history.newest} is not in all`, { cause: error });
    });
    // A new machine gets everything from the stream.
    await using later = await this.#machine(0);
    this.#history.check(await awaitAgreement([...this.#machines, later], isWhole, HEALED_MS));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#machines.map((machine) => machine[Symbol.asyncDispose]()));
    const operator = await this.#nats.nodes[0].operator();
    const { streams } = await jetstreamManager(operator);
    for (const name of [this.stream, `OBJ_${this.stream}_blobs`, `KV_${this.stream}_leases`, `KV_${this.stream}_here`])
      await streams.delete(name).catch(() => {});
    await operator.close();
  }

  #machine(at: NodeIndex): Promise<TestMachine> {
    return startMachine(createSettings(this.#nats.machineUrls[at] ?? []), { vaultKey: this.key });
  }
}

async function suffer(nats: ThreeNodes, faults: readonly Fault[], stream: string): Promise<void> {
  for (const { kind, node, lasts, isHealed } of faults) {
    const at = node === 'leader' ? ((await nats.leader(stream)) ?? 0) : node;
    if (kind === 'kill') await nats.nodes[at].stop();
    else if (kind === 'pause') nats.nodes[at].pause();
    else if (kind === 'isolate') nats.isolate(at);
    else nats.cutOff(at);
    await sleep(lasts);
    if (isHealed) await nats.heal();
  }
  await nats.heal();
}

if (!hasNats) test.skip('vault.cluster/converges: nats-server is not installed here', () => {});
describe.runIf(hasNats)('three writers on a cluster of three nodes', () => {
  verifies(
    ['vault.cluster/converges', 'vault.cluster/leases'],
    'whatever is written, with nodes killed, paused and cut off in between: all are equal, nothing acknowledged is lost, and no job ran twice',
    async () => {
      await using nats = await startThreeNodes();
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(steps, steps, steps), { minLength: VAULTS, maxLength: VAULTS }),
          fc.array(fault, { minLength: 1, maxLength: 3 }),
          async (writes, faults) => {
            await using stack = new AsyncDisposableStack();
            const vaults = writes.map(() => stack.use(new Vault(nats)));
            await Promise.all(vaults.map((vault) => vault.start()));
            await Promise.all([suffer(nats, faults, vaults[0]?.stream ?? ''), ...vaults.map((vault, at) => vault.write(writes[at] ?? []))]);
            await Promise.all(vaults.map((vault) => vault.check()));
          },
        ),
        { numRuns: ROUNDS / VAULTS, endOnFailure: true },
      );
    },
    3_600_000,
  );
});
