import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { KEY, temporaryFolder } from '../journal/fixture.ts';
import { getStreamNames } from '#shared/sync/nats/vault-streams.ts';
import { RecordSeal } from './record-seal.ts';
import { findDifferingRecords } from './tests/differing-records.ts';
import { WriteHistory, write } from './tests/write-history.ts';
import { awaitAgreement } from './tests/test-machine.ts';
import { startRemoteMachine, type RemoteMachine } from './tests/remote-machine.ts';
import { hasNats, NATS_PROGRAM } from './tests/nats-server.ts';
import { createNetworks, type NetworkNamespace } from './tests/networks.ts';
import { type NodeIndex, NODES } from './tests/three-nodes.ts';

/** About six seconds per round. */
const ROUNDS = process.env.PERCH_LONG ? 200 : 20;
const HEALED_MS = 120_000;
const LEASE_MS = 3_600_000;
const { records: STREAM } = getStreamNames(new RecordSeal(KEY).vault);

const index = fc.constantFrom(...NODES);
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ write }) },
  { weight: 3, arbitrary: fc.record({ tick: fc.nat(3) }) },
  { weight: 4, arbitrary: fc.record({ pause: fc.integer({ min: 1, max: 300 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const steps = fc.array(step, { minLength: 3, maxLength: 10 });
/** `at`: index of one of the three; for nodes also the leader of the vault's stream. */
const fault = fc.record({
  what: fc.constantFrom('node', 'machine'),
  kind: fc.constantFrom('kill', 'pause', 'cut'),
  at: fc.oneof(index, fc.constant('leader' as const)),
  lasts: fc.integer({ min: 100, max: 3000 }),
});
type Fault = typeof fault extends fc.Arbitrary<infer T> ? T : never;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A server of the cluster in its own network. */
class Node implements AsyncDisposable {
  readonly place: NetworkNamespace;
  readonly #config: string;
  #child: ChildProcess | undefined;

  constructor(place: NetworkNamespace, dir: string, name: string, all: readonly NetworkNamespace[]) {
    this.place = place;
    this.#config = join(dir, `${name}.conf`);
    mkdirSync(join(dir, name));
    const routes = all.map(({ address }) => `"nats://${address}:6222"`).join(', ');
    writeFileSync(
      this.#config,
      `server_name: ${name}\nlisten: "0.0.0.0:4222"\nping_interval: "1s"\nping_max: 2\njetstream { store_dir: ${JSON.stringify(join(dir, name))} }
cluster { name: perch, listen: "0.0.0.0:6222", routes: [${routes}] }\n`,
    );
  }

  get url(): string {
    return `nats://${this.place.address}:4222`;
  }

  start(): void {
    if (this.#child?.exitCode === null && this.#child.signalCode === null) return;
    const [program = '', ...args] = [...this.place.within, NATS_PROGRAM, '-c', this.#config];
    this.#child = spawn(program, args, { stdio: 'ignore' });
  }

  async kill(): Promise<void> {
    if (!this.#child || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal);
  }

  /**
   * Asks the node which server leads the vault's stream. Null if the node does not answer; undefined if there is no leader or no stream.
   */
  async leader(): Promise<string | null | undefined> {
    const nc = await connect({ servers: this.url, timeout: 1000, reconnect: false }).catch(() => undefined);
    try {
      if (!nc) return null;
      const jsm = await jetstreamManager(nc, { timeout: 1000 });
      return await jsm.streams.info(STREAM).then(
        ({ cluster }) => cluster?.leader,
        () => undefined,
      );
    } catch {
      return null;
    } finally {
      await nc?.close().catch(() => {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

async function suffer(
  { what, kind, at, lasts }: Fault,
  nodes: readonly Node[],
  machines: readonly { machine: RemoteMachine; place: NetworkNamespace }[],
): Promise<void> {
  const leader = at === 'leader' ? await nodes[0]?.leader() : undefined;
  const chosen: NodeIndex = at === 'leader' ? (NODES.find((each) => leader === `n${each}`) ?? 0) : at;
  const [node, machine] = [nodes[chosen], machines[chosen]];
  const place = what === 'node' ? node?.place : machine?.place;
  if (kind === 'cut') place?.cut();
  else if (what === 'node') await (kind === 'kill' ? node?.kill() : node?.signal('SIGSTOP'));
  else if (kind === 'kill') await machine?.machine.kill();
  else machine?.machine.pause();
  await sleep(lasts);
}

async function heal(nodes: readonly Node[], machines: readonly { machine: RemoteMachine; place: NetworkNamespace }[]): Promise<void> {
  for (const { place } of [...nodes, ...machines]) place.join();
  for (const node of nodes) {
    node.signal('SIGCONT');
    node.start();
  }
  for (const { machine } of machines) machine.resume();
  for (const node of nodes) await waitFor(async () => (await node.leader()) !== null, 'a node that answers', 60_000);
}

const canPart = ((): boolean => {
  try {
    createNetworks(1)[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
})();

if (!hasNats || !canPart) test.skip('vault.cluster/converges: no nats-server, or no networks of our own here', () => {});
describe.runIf(hasNats && canPart)('three machines and three nodes, each in its own network namespace', () => {
  verifies(
    ['vault.cluster/converges', 'vault.cluster/leases'],
    'killed, paused and parted while all write: once healed all are equal, everything acknowledged is there, and no job ran twice',
    async () => {
      using folder = temporaryFolder();
      using nets = createNetworks(2 * NODES.length);
      await using stack = new AsyncDisposableStack();
      const placed = nets.places.slice(0, NODES.length);
      const nodes = placed.map((place, at) => stack.use(new Node(place, folder.dir, `n${at}`, placed)));
      for (const node of nodes) node.start();
      for (const node of nodes) await waitFor(async () => (await node.leader()) !== null, 'a node that answers', 60_000);
      const urls = nodes.map(({ url }) => url);
      const machines = await Promise.all(
        nets.places.slice(NODES.length).map(async (place, at) => {
          const machine = stack.use(await startRemoteMachine({ within: place.within, urls, vaultKey: KEY, holder: `w${at}` }));
          return { machine, place };
        }),
      );
      const all = machines.map(({ machine }) => machine);
      const history = new WriteHistory();
      const ran = new Map<string, Set<string>>();
      let round = 0;
      const work = async (machine: RemoteMachine, holder: string, list: readonly Step[]): Promise<void> => {
        for (const step of list) {
          // A machine killed meanwhile has acknowledged nothing.
          const killed = (): void => {};
          if ('pause' in step) await sleep(step.pause);
          else if ('write' in step) await history.write(machine, holder, step.write).catch(killed);
          else {
            const name = `cron:job@${round}-${step.tick}`;
            const fence = await machine.take(name, LEASE_MS).catch(killed);
            if (typeof fence === 'number') ran.set(name, (ran.get(name) ?? new Set()).add(holder));
          }
        }
      };
      await fc.assert(
        fc.asyncProperty(fc.tuple(steps, steps, steps), fc.array(fault, { minLength: 1, maxLength: 2 }), async (lists, faults) => {
          round++;
          const working = Promise.all(all.map((machine, at) => work(machine, `w${at}`, lists[at] ?? [])));
          for (const each of faults) await suffer(each, nodes, machines);
          await heal(nodes, machines);
          await working;
          const healed = await awaitAgreement(all, history.isIn.bind(history), HEALED_MS).catch(async (error: unknown) => {
            const states = await Promise.all(
              all.map(async (machine) => ({ facts: await machine.examine(), lines: machine.lines.slice(-5) })),
            );
            const differ = await findDifferingRecords(all, urls, new RecordSeal(KEY)).catch(String);
            throw new Error(`round ${round}: ${JSON.stringify(differ)} ${JSON.stringify(states)}`, { cause: error });
          });
          history.check(healed);
          for (const [name, holders] of ran) expect([...holders], name).toHaveLength(1);
        }),
        { numRuns: ROUNDS, endOnFailure: true },
      );
      // At least one run happened, and a machine added later gets everything from the stream.
      expect(ran.size).toBeGreaterThan(0);
    },
    ROUNDS * 150_000,
  );
});
