import { waitFor } from '../../../tests/support/test-gateway.ts';
import { KEY } from '../../journal/fixture.ts';
import type { FakeHost, FakeHostOptions } from '../../server/tests/fake-host.ts';
import { startTestBridge, type TestBridge } from '../../server/tests/test-bridge.ts';
import { type TestMachine, startMachine, createSettings } from '../../sync/tests/test-machine.ts';
import { type ClusterMember, joinCluster, toViaId } from '../join-cluster.ts';
import { SERVING_TIMES } from '../serving-election.ts';

export const OWNER = 'the-owner';

/** A bridge of a cluster with its own journal, and a fake host in place of a managed Chromium. */
export interface ClusterTestMember extends AsyncDisposable {
  name: string;
  bridge: TestBridge;
  machine: TestMachine;
  cluster: ClusterMember;
  /** Its own host, if it has one. */
  host(): FakeHost | undefined;
  /** Number of hosts started here. */
  starts(): number;
  /** Kills the host and prevents further starts. */
  breakHost(): void;
  mendHost(): void;
  /** Stops like a process that receives SIGTERM. `stopped` resolves when it has ended. */
  stop(): Promise<void>;
}

interface MemberOptions extends Partial<FakeHostOptions> {
  /** False: only tabs may host. */
  hosts?: boolean;
  /** Its host attaches only after this promise resolves. */
  attachAfter?: Promise<void>;
  times?: Partial<typeof SERVING_TIMES>;
}

/** Hosts answer requests with their bridge's name. */
export async function createMember(
  name: string,
  servers: string[],
  { hosts = true, attachAfter, times, ...host }: MemberOptions = {},
): Promise<ClusterTestMember> {
  const machine = await startMachine(createSettings(servers), { confirmMs: 2000 });
  const bridge = await startTestBridge({ token: OWNER, journal: machine.journal, vaultKey: KEY, via: toViaId(KEY) });
  machine.journal.tellHosts(() => bridge.bridge.hosts.list().flatMap(({ origin }) => origin || []));
  const script = { http: async () => new Response(name), rpc: createResponder(name), ...host };
  let current: FakeHost | undefined;
  let isBroken = false;
  let starts = 0;
  let lastTurn = 0;
  const scripted = {
    hasPermit: true,
    async start() {
      if (isBroken) throw new Error(`the host of ${name} does not start`);
      starts++;
      const turn = (lastTurn += 1);
      const attach = async (): Promise<void> => {
        if (turn === lastTurn) current = await bridge.attach(script);
      };
      if (attachAfter) void attachAfter.then(attach);
      else await attach();
    },
    async stop() {
      lastTurn += 1;
      current?.die();
      current = undefined;
    },
  };
  const cluster = joinCluster({
    ...{ bridge: bridge.bridge, journal: machine.journal, vaultKey: KEY, log: (line: string) => void bridge.lines.push(line) },
    host: hosts ? scripted : null,
    times: { ...SERVING_TIMES, restMs: 200, ...times },
  });
  let stopping: Promise<void> | undefined;
  const member: ClusterTestMember = {
    ...{ name, bridge, machine: machine, cluster },
    host: () => current,
    starts: () => starts,
    breakHost() {
      isBroken = true;
      current?.die();
      current = undefined;
    },
    mendHost: () => void (isBroken = false),
    stop: () =>
      (stopping ??= (async () => {
        await cluster.leave();
        await bridge.bridge.close(cluster.shutdownReason);
        await cluster.close();
        await machine[Symbol.asyncDispose]();
      })()),
    async [Symbol.asyncDispose]() {
      // No hand-over at the end of a test.
      stopping ??= (async () => {
        await cluster.close();
        await bridge[Symbol.asyncDispose]();
        await machine[Symbol.asyncDispose]();
      })();
      await stopping;
    },
  };
  return member;
}

const createResponder =
  (name: string): NonNullable<FakeHostOptions['rpc']> =>
  (link, { id }) =>
    link.send(JSON.stringify({ type: 'res', id, ok: true, payload: { host: name } }));

/** Returns the name of the host that answers a request at a bridge; the status if none does. */
export async function getServingHost({ bridge }: ClusterTestMember): Promise<string> {
  const response = await bridge.http('/v1/whose', { token: OWNER, signal: AbortSignal.timeout(20_000) });
  return response.ok ? response.text() : String(response.status);
}

/** Waits until all bridges' clients are served by the same host (`name`, if given), and returns the time in milliseconds. */
export async function awaitAgreement(members: readonly ClusterTestMember[], name?: string): Promise<{ name: string; ms: number }> {
  const since = performance.now();
  let answers: string[] = [];
  await waitFor(
    async () => {
      answers = await Promise.all(members.map(getServingHost));
      const [first = ''] = answers;
      return answers.every((answer) => answer === first) && !/^\d/.test(first) && (name === undefined || first === name);
    },
    'one host for all',
    30_000,
  ).catch((error: unknown) => {
    throw new Error(
      `${String(error)}: ${JSON.stringify(answers)} ${JSON.stringify(members.map((member) => [member.name, member.bridge.lines, member.machine.lines]))}`,
    );
  });
  return { name: answers[0] ?? '', ms: performance.now() - since };
}
