import { jetstreamManager } from '@nats-io/jetstream';
import { waitFor } from '../../../tests/support/test-gateway.ts';
import { findFreePort, createNatsServer, type TestNats } from './nats-server.ts';
import { type TcpProxy, startTcpProxy } from './tcp-proxy.ts';

export const NODES = [0, 1, 2] as const;
export type NodeIndex = (typeof NODES)[number];

export interface ThreeNodes extends AsyncDisposable {
  nodes: readonly [TestNats, TestNats, TestNats];
  /** Server URLs for clients. */
  urls: string[];
  /** Separate proxied URLs of the nodes for each of three machines. */
  machineUrls: readonly string[][];
  /** Blocks all proxies of one machine. */
  cutOff(machine: NodeIndex): void;
  /** Separates a node from the other nodes; clients still reach all of them. */
  isolate(node: NodeIndex): void;
  /** Resumes all nodes and opens all proxies. */
  heal(): Promise<void>;
  /** Resolves once the cluster answers JetStream requests through each node. */
  ready(): Promise<void>;
  /** Returns the node that leads a stream. Undefined if there is no leader or none is known. */
  leader(stream: string): Promise<NodeIndex | undefined>;
  /** Makes a node the leader of a stream. */
  lead(stream: string, node: NodeIndex): Promise<void>;
}

/**
 * Three NATS servers on loopback as one JetStream cluster. Traffic between any two of them goes through its own proxy, which can be
 * blocked.
 */
export async function startThreeNodes({
  config = '',
  jetstream = () => '',
}: { config?: string; jetstream?: (node: NodeIndex) => string } = {}): Promise<ThreeNodes> {
  await using stack = new AsyncDisposableStack();
  const ports = await Promise.all(NODES.map(() => findFreePort()));
  const routes: { ends: readonly NodeIndex[]; proxy: TcpProxy }[] = [];
  for (const from of NODES)
    for (const to of NODES) if (from !== to) routes.push({ ends: [from, to], proxy: stack.use(await startTcpProxy(ports[to] ?? 0)) });
  const node = async (index: NodeIndex): Promise<TestNats> => {
    const nodeRoutes = routes.filter(({ ends: [from] }) => from === index).map(({ proxy }) => `"${toUrl(proxy)}"`);
    // Addresses that the nodes advertise to each other would bypass the proxies, so they advertise an unused port.
    const cluster = `cluster { name: perch, listen: "127.0.0.1:${ports[index]}", cluster_advertise: "127.0.0.1:1", no_advertise: true, routes: [${nodeRoutes.join(', ')}] }`;
    return stack.use(
      await createNatsServer({
        config: `server_name: n${index}\n${cluster}\nping_interval: "1s"\nping_max: 2\n${config}`,
        jetstream: jetstream(index),
        isStarted: false,
      }),
    );
  };
  const nodes = [await node(0), await node(1), await node(2)] as const;
  const machineProxies: TcpProxy[][] = [];
  for (const _ of NODES) machineProxies.push(await Promise.all(nodes.map(async ({ port }) => stack.use(await startTcpProxy(port)))));
  const cluster: ThreeNodes = {
    nodes,
    urls: nodes.map(({ url }) => url),
    machineUrls: machineProxies.map((proxies) => proxies.map(toUrl)),
    cutOff: (machine) => machineProxies[machine]?.forEach((proxy) => proxy.block()),
    isolate: (index) => routes.filter(({ ends }) => ends.includes(index)).forEach(({ proxy }) => proxy.block()),
    async heal() {
      for (const proxy of [...routes.map(({ proxy }) => proxy), ...machineProxies.flat()]) proxy.open();
      for (const node of nodes) node.resume();
      await Promise.all(nodes.map((node) => node.start()));
      await cluster.ready();
    },
    async ready() {
      for (const node of nodes) await waitFor(() => isReachable(node), 'a node that knows of its cluster', 60_000);
    },
    async leader(stream) {
      for (const node of nodes) {
        const name = await requestNode(node, async (jsm) => (await jsm.streams.info(stream)).cluster?.leader);
        const index = NODES.find((at) => name === `n${at}`);
        if (index !== undefined) return index;
      }
      return undefined;
    },
    async lead(stream, node) {
      const isLed = async (): Promise<boolean> => {
        if ((await cluster.leader(stream)) === node) return true;
        // Servers of that version choose the next leader themselves.
        const nc = await nodes[0].operator();
        await nc.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`, '', { timeout: 5000 }).catch(() => {});
        await nc.close();
        return false;
      };
      await waitFor(isLed, 'the stream led by that node', 120_000);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
  await Promise.all(nodes.map((node) => node.start()));
  await cluster.ready();
  const all = stack.move();
  return cluster;
}

const toUrl = ({ port }: TcpProxy): string => `nats://127.0.0.1:${port}`;

const isReachable = (node: TestNats): Promise<boolean> =>
  requestNode(node, (jsm) => jsm.getAccountInfo()).then((info) => info !== undefined);

/** Asks a node. Undefined if it does not answer in time. */
async function requestNode<T>(
  node: TestNats,
  question: (jsm: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<T>,
): Promise<T | undefined> {
  const nc = await node.operator({ timeout: 1000, reconnect: false }).catch(() => undefined);
  try {
    return nc && (await question(await jetstreamManager(nc, { timeout: 1000, checkAPI: false })));
  } catch {
    return undefined;
  } finally {
    await nc?.close().catch(() => {});
  }
}
