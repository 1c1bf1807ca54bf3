import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DoctorCheck } from '#shared/rpc/methods/status-contracts.ts';
import { runPerch } from '../../bridge/cli/tests/cli-gateway.ts';
import { temporaryFolder } from '../../bridge/journal/fixture.ts';
import { findFreePort, hasNats, NATS_PROGRAM } from '../../bridge/sync/tests/nats-server.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { type Perch, startPerch } from './perch-process.ts';
import { connectOutside } from './outside-client.ts';

const deploy = join(import.meta.dirname, '../../deploy');
const PASSWORD = 'p0123456789';

/** The servers of deploy/compose.yaml as plain processes: their names are ports of loopback here. */
async function startDeployedServers(
  dir: string,
  vaultConf: string,
): Promise<AsyncDisposable & { urls: string[]; nodes: ChildProcess[]; health: string[] }> {
  const names = ['nats-1', 'nats-2', 'nats-3'];
  const ports = await Promise.all(
    names.map(async () => ({ client: await findFreePort(), http: await findFreePort(), route: await findFreePort() })),
  );
  const variable = /\$(PERCH_\w+)/.exec(vaultConf)?.[1] ?? '';
  const nodes = names.map((name, at) => {
    const own = ports[at];
    const folder = join(dir, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'vault.conf'), vaultConf);
    let config = readFileSync(join(deploy, 'nats.conf'), 'utf8')
      .replace('0.0.0.0:4222', `127.0.0.1:${own?.client}`)
      .replace('127.0.0.1:8222', `127.0.0.1:${own?.http}`)
      .replace('0.0.0.0:6222', `127.0.0.1:${own?.route}`)
      .replace('"/data"', JSON.stringify(join(folder, 'data')))
      // Limit that fits this disk.
      .replace('100GB', '1GB');
    for (const [other, { route }] of ports.entries()) config = config.replace(`${names[other]}:6222`, `127.0.0.1:${route}`);
    writeFileSync(join(folder, 'nats.conf'), config);
    return spawn(NATS_PROGRAM, ['-c', join(folder, 'nats.conf')], {
      stdio: 'ignore',
      env: { PATH: process.env.PATH, SERVER_NAME: name, [variable]: PASSWORD },
    });
  });
  const health = ports.map(({ http }) => `http://127.0.0.1:${http}/healthz?js-enabled-only=true`);
  return {
    urls: ports.map(({ client }) => `nats://127.0.0.1:${client}`),
    nodes,
    health,
    async [Symbol.asyncDispose]() {
      for (const node of nodes) {
        if (node.exitCode !== null || node.signalCode !== null) continue;
        const exited = once(node, 'exit');
        node.kill('SIGKILL');
        await exited;
      }
    },
  };
}

async function readNote(perch: Perch, path: string): Promise<string | null> {
  using outside = await connectOutside(perch);
  try {
    return (await outside.client.call('workspace.read', { path })).content;
  } catch {
    return null;
  }
}

async function writeNote(perch: Perch, path: string, content: string): Promise<void> {
  using outside = await connectOutside(perch);
  await outside.client.call('workspace.write', { path, content });
}

if (!hasNats) test.skip('operations/cluster: nats-server is not installed here', () => {});
describe.runIf(hasNats)('the example of a cluster', () => {
  verifies(
    'operations/cluster',
    'set up by the commands of the document, two bridges share a vault over three servers, and go on without one of these',
    async () => {
      using folder = temporaryFolder();
      const [one, two] = [join(folder.dir, 'one'), join(folder.dir, 'two')];
      const run = async (home: string, args: string[], input = ''): Promise<string> => {
        const { code, stdout, stderr } = await runPerch(args, { PERCH_HOME: home }, input);
        expect([code, stderr.includes('Warning: ')], stderr).toEqual([0, false]);
        return stdout;
      };
      await using first = await startPerch({ host: 'headless', home: one });
      const conf = await run(one, ['sync', 'permissions', '--user', 'perch', '--storage', '500MB']);
      await using nats = await startDeployedServers(folder.dir, conf);
      for (const address of nats.health)
        await waitFor(async () => (await fetch(address).catch(() => undefined))?.ok === true, 'a server that says it is well', 60_000);
      const share = ['sync', 'nats', ...nats.urls, '--user', 'perch'];
      // The servers report healthy before they have elected a leader.
      const isReady = async (): Promise<boolean> => !(await runPerch(share, { PERCH_HOME: one }, PASSWORD)).stderr.includes('Warning: ');
      await waitFor(isReady, 'servers that agree', 60_000);
      await run(two, ['sync', 'join'], await run(one, ['sync', 'phrase']));
      await run(two, share, PASSWORD);
      await first.restart();
      await using second = await startPerch({ host: 'headless', home: two });
      for (const perch of [first, second])
        await waitFor(async () => (await fetch(`${perch.url}/ready`)).status === 200, 'a host that serves');
      await writeNote(first, 'one.md', 'written at the first');
      await waitFor(async () => (await readNote(second, 'one.md')) === 'written at the first', 'the note, at the second', 60_000);
      for (const home of [one, two]) expect(await run(home, ['sync', 'status'])).toContain('Connected');
      const cluster = async (): Promise<Record<string, DoctorCheck>> => {
        using outside = await connectOutside(first);
        const { checks } = await outside.client.call('doctor.run', {});
        return Object.fromEntries(checks.filter(({ id }) => id.startsWith('cluster')).map((check) => [check.id, check]));
      };
      await waitFor(async () => (await cluster())['cluster-replicas']?.severity === 'ok', 'copies that are current', 60_000);
      const checks = await cluster();
      expect(Object.entries(checks).filter(([, { severity }]) => severity !== 'ok' && severity !== 'info')).toEqual([]);
      expect(checks['cluster-replicas']?.message).toBe('Each record is stored on 3 servers, and all are current.');
      expect(checks['cluster-storage']?.message).toContain('of 500 MB');
      expect(checks['cluster-rights']?.severity).toBe('ok');
      nats.nodes[2]?.kill('SIGKILL');
      await writeNote(second, 'two.md', 'written at the second');
      await waitFor(async () => (await readNote(first, 'two.md')) === 'written at the second', 'the note, without one server', 90_000);
      await waitFor(async () => (await cluster())['cluster-replicas']?.severity === 'warning', 'the server that is missing, told', 60_000);
      expect((await cluster())['cluster-replicas']?.message).toContain('nats-3');
    },
    300_000,
  );
});
