import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { TestSocketClient } from '../server/tests/test-client.ts';
import { hasNats, createNatsServer } from '../sync/tests/nats-server.ts';
import { startTcpProxy } from '../sync/tests/tcp-proxy.ts';
import { awaitAgreement, createMember, type ClusterTestMember, OWNER, getServingHost } from './tests/members.ts';

const MINUTE = 60_000;

const countStarts = (members: readonly ClusterTestMember[]): number[] => members.map((member) => member.starts());
/** Prints how long the vault was without a host. */
const printDowntime = (label: string, ms: number): void => {
  process.stdout.write(`${label}: ${Math.round(ms)} ms\n`);
  expect(ms).toBeLessThan(15_000);
};

if (!hasNats) test.skip('cluster: nats-server is not installed here', () => {});
describe.runIf(hasNats)('bridges that share a vault', () => {
  verifies(
    'cluster.serving/one',
    'one of them has a host, all answer by it over HTTP and WebSocket, and one without any host does so too',
    async () => {
      await using nats = await createNatsServer();
      await using a = await createMember('a', [nats.url]);
      await awaitAgreement([a], 'a');
      await using b = await createMember('b', [nats.url]);
      await using c = await createMember('c', [nats.url], { hosts: false });
      await awaitAgreement([a, b, c], 'a');
      expect(countStarts([a, b, c])).toEqual([1, 0, 0]);
      const client = await TestSocketClient.connect(c.bridge.url, OWNER);
      expect(await client.call('x')).toMatchObject({ payload: { host: 'a' } });
      const metrics = await Promise.all([a, b].map(async ({ bridge }) => (await bridge.http('/metrics', { token: OWNER })).text()));
      expect(metrics.map((text) => /^perch_cluster_serving (\d)$/m.exec(text)?.[1])).toEqual(['1', '0']);
      expect(metrics.map((text) => /^perch_cluster_links (\d)$/m.exec(text)?.[1])).toEqual(['2', '1']);
      expect((await b.bridge.http('/ready')).status).toBe(200);
    },
    MINUTE,
  );

  verifies(
    'cluster.serving/host-lost',
    'where the host dies and does not come back another bridge serves, and its clients hear that they may try again',
    async () => {
      await using nats = await createNatsServer();
      await using a = await createMember('a', [nats.url]);
      await awaitAgreement([a], 'a');
      await using b = await createMember('b', [nats.url]);
      await awaitAgreement([a, b], 'a');
      const client = await TestSocketClient.connect(b.bridge.url, OWNER);
      a.breakHost();
      const { ms } = await awaitAgreement([a, b], 'b');
      printDowntime('the host is gone for good', ms);
      expect(await client.closed).toMatchObject({ code: 1012 });
    },
    MINUTE,
  );

  verifies(
    'cluster.serving/host-lost',
    'where the first host never comes up another bridge serves, and it once it can',
    async () => {
      await using nats = await createNatsServer();
      const up = Promise.withResolvers<void>();
      await using a = await createMember('a', [nats.url], { attachAfter: up.promise, times: { startMs: 1000, unfitMs: 500 } });
      await waitFor(() => a.bridge.lines.filter((line) => line.includes('now serves the vault')).length > 1, 'a second try');
      await using b = await createMember('b', [nats.url]);
      await awaitAgreement([a, b], 'b');
      up.resolve();
      await b.stop();
      await awaitAgreement([a], 'a');
      await waitFor(() => a.cluster.serving.state?.ready === true, 'the lease of the host that came up');
    },
    MINUTE,
  );

  verifies(
    ['cluster.serving/bridge-lost', 'cluster.serving/partition'],
    'a bridge cut off from the cluster serves alone while another takes over, and yields once it reconnects',
    async () => {
      await using nats = await createNatsServer();
      await using proxy = await startTcpProxy(nats.port);
      await using a = await createMember('a', [`nats://127.0.0.1:${proxy.port}`]);
      await awaitAgreement([a], 'a');
      await using b = await createMember('b', [nats.url]);
      await using c = await createMember('c', [nats.url]);
      await awaitAgreement([a, b, c], 'a');
      const client = await TestSocketClient.connect(b.bridge.url, OWNER);
      proxy.block();
      const { name, ms } = await awaitAgreement([b, c]);
      printDowntime('its bridge is cut off', ms);
      expect(['b', 'c']).toContain(name);
      expect(await client.closed).toMatchObject({ code: 1012 });
      expect(await getServingHost(a)).toBe('a');
      proxy.open();
      await awaitAgreement([a, b, c], name);
      await waitFor(() => a.host() === undefined, 'the end of the host that nobody needs');
      expect(countStarts([b, c]).reduce((sum, count) => sum + count)).toBe(1);
    },
    MINUTE,
  );

  verifies(
    'cluster.serving/apart',
    'while the cluster is away each bridge has a host of its own; afterwards one has it again',
    async () => {
      await using nats = await createNatsServer();
      await using a = await createMember('a', [nats.url]);
      await awaitAgreement([a], 'a');
      await using b = await createMember('b', [nats.url]);
      await awaitAgreement([a, b], 'a');
      await nats.stop();
      await waitFor(async () => (await getServingHost(b)) === 'b', 'a host of its own', 30_000);
      expect(await getServingHost(a)).toBe('a');
      await nats.start();
      const { name } = await awaitAgreement([a, b]);
      const other = name === 'a' ? b : a;
      await waitFor(() => other.host() === undefined, 'the end of the host that nobody needs', 30_000);
      expect(await getServingHost(other)).toBe(name);
    },
    MINUTE,
  );

  verifies(
    'cluster.serving/leaves',
    'a bridge that stops hands over first: requests go on without one that fails, and clients move on',
    async () => {
      await using nats = await createNatsServer();
      await using a = await createMember('a', [nats.url]);
      await awaitAgreement([a], 'a');
      await using b = await createMember('b', [nats.url]);
      await using c = await createMember('c', [nats.url]);
      await awaitAgreement([a, b, c], 'a');
      let isOver = false;
      const answers: string[] = [];
      const asking = (async () => {
        while (!isOver) answers.push(await getServingHost(c));
      })();
      await waitFor(() => answers.length > 0, 'the first answer');
      const own = await TestSocketClient.connect(a.bridge.url, OWNER);
      await a.stop();
      expect(await own.closed).toMatchObject({ code: 1012 });
      const next = await awaitAgreement([b, c]);
      expect(next.name).not.toBe('a');
      isOver = true;
      await asking;
      // Requests during the change may have been retried; none waited or failed for long.
      expect(answers.filter((answer) => answer !== 'a' && answer !== next.name).length).toBeLessThanOrEqual(1);
      expect(answers).toContain('a');
      expect(answers.at(-1)).toBe(next.name);
    },
    MINUTE,
  );
});
