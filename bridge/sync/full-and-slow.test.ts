import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { KEY, temporaryFolder, createVersion, createVersions } from '../journal/fixture.ts';
import { RecordSeal } from './record-seal.ts';
import { awaitAgreement, hasRecords, startMachine, createSettings } from './tests/test-machine.ts';
import { hasNats, createNatsServer } from './tests/nats-server.ts';
import { startTcpProxy } from './tests/tcp-proxy.ts';
import { startThreeNodes } from './tests/three-nodes.ts';

const STREAM = `PERCH_${new RecordSeal(KEY).vault}`;
const LARGE = JSON.stringify('x'.repeat(100_000));

/** Creates a file system of the given size. Throws if this machine does not permit it. */
function smallDisk(megabytes: number): { dir: string; [Symbol.dispose](): void } {
  const folder = temporaryFolder();
  const run = (program: string, ...args: string[]): void => void execFileSync(program, [...args, folder.dir], { stdio: 'pipe' });
  try {
    run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs');
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
  return { dir: folder.dir, [Symbol.dispose]: () => (run('umount'), folder[Symbol.dispose]()) };
}
const canMount = ((): boolean => {
  try {
    smallDisk(1)[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
})();

if (!hasNats) test.skip('vault.cluster/faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('a full or slow cluster', () => {
  verifies(
    'vault.cluster/faults',
    'a server without storage left: reported and counted, and sent once there is room',
    async () => {
      await using nats = await createNatsServer({ jetstream: 'max_file_store: 2MB' });
      await using a = await startMachine(createSettings(nats.url));
      await hasRecords(a, 'shared');
      await a.journal.push(createVersions(40, 'a', { payload: LARGE }), 'a');
      await hasRecords(a, 'apart');
      await waitFor(() => a.journal.cluster.problem?.code === 'full');
      await a.journal.push([createVersion('later', 1)], 'a');
      // The bridge keeps retrying and reports no further notices meanwhile.
      const full = /^The cluster is out of storage .*changes are not synced/;
      await waitFor(async () => full.test((await a.journal.info()).notices.at(-1)?.message ?? ''), 'the notice');
      expect(await a.contents()).toHaveLength(41);
      await nats.stop();
      nats.configure({ jetstream: 'max_file_store: 100MB' });
      await nats.start();
      await using b = await startMachine(createSettings(nats.url));
      await awaitAgreement([a, b], 41, 60_000);
      await hasRecords(a, 'shared');
    },
    90_000,
  );

  verifies(
    'vault.cluster/faults',
    'a slow connection, then an unusable one',
    async () => {
      await using nats = await createNatsServer();
      await using proxy = await startTcpProxy(nats.port);
      proxy.delayMs = 150;
      await using slow = await startMachine(createSettings(`nats://127.0.0.1:${proxy.port}`));
      await using fast = await startMachine(createSettings(nats.url));
      for (const machine of [slow, fast]) await hasRecords(machine, 'shared');
      await slow.journal.push(createVersions(300, 's'), 's');
      await fast.journal.push(createVersions(300, 'f'), 'f');
      await awaitAgreement([slow, fast], 600, 60_000);
      expect(slow.lines).toEqual(['The vault is synced with the cluster']);
      proxy.delayMs = 60_000;
      await hasRecords(slow, 'apart');
      expect(slow.journal.cluster.problem?.code).toBe('unreachable');
      await slow.journal.push([createVersion('later', 1, 's')], 's');
      proxy.delayMs = 0;
      await waitFor(async () => (await fast.contents()).length === 601, 'what was written meanwhile', 60_000);
      await awaitAgreement([slow, fast], 601);
    },
    180_000,
  );

  for (const direction of ['up', 'down'] as const)
    verifies(
      'vault.cluster/faults',
      `a narrow connection: large data goes ${direction} in chunks, and the machine stays attached`,
      async () => {
        await using nats = await createNatsServer();
        await using proxy = await startTcpProxy(nats.port);
        await using narrow = await startMachine(createSettings(`nats://127.0.0.1:${proxy.port}`));
        await using wide = await startMachine(createSettings(nats.url));
        for (const machine of [narrow, wide]) await hasRecords(machine, 'shared');
        proxy.bytesPerSecond = 400_000;
        const [from, to] = direction === 'up' ? [narrow, wide] : [wide, narrow];
        const attachments = await Promise.all(
          Array.from({ length: 6 }, async (_, at) => {
            const bytes = randomBytes(200_000);
            const hash = createHash('sha256').update(bytes).digest('hex');
            await from.journal.putBlob(hash, bytes);
            return createVersion(`with-${at}`, 2000 + at, 'a', { blobs: [hash] });
          }),
        );
        await from.journal.push([...createVersions(24, 'a', { payload: LARGE }), ...attachments], 'a');
        await waitFor(async () => (await to.contents()).length === 30, 'all of it', 90_000);
        for (const { blobs = [] } of attachments) for (const hash of blobs) expect(await to.journal.getBlob(hash)).toHaveLength(200_000);
        expect(narrow.lines).toEqual(['The vault is synced with the cluster']);
      },
      120_000,
    );
});

if (hasNats && !canMount) test.skip('vault.cluster/faults: no file system of its own can be mounted here', () => {});
describe.runIf(hasNats && canMount)('a node with a full disk', () => {
  verifies(
    'vault.cluster/faults',
    'the leader’s disk is full: each machine continues alone and reports it, and all syncs once there is room',
    async () => {
      using disk = smallDisk(24);
      await using nats = await startThreeNodes({
        jetstream: (node) => (node === 0 ? `store_dir: ${JSON.stringify(join(disk.dir, 'store'))}` : ''),
      });
      await using a = await startMachine(createSettings(nats.urls));
      await using b = await startMachine(createSettings(nats.urls));
      await Promise.all([a, b].map((machine) => hasRecords(machine, 'shared')));
      await nats.lead(STREAM, 0);
      const rest = join(disk.dir, 'rest');
      expect(() => writeFileSync(rest, Buffer.alloc(64_000_000))).toThrow('ENOSPC');
      await a.journal.push(createVersions(20, 'a', { payload: LARGE }), 'a');
      await b.journal.push(createVersions(20, 'b', { payload: LARGE }), 'b');
      // Nodes of that version do not give up leadership for it.
      await Promise.all([a, b].map((machine) => hasRecords(machine, 'apart')));
      for (const machine of [a, b]) {
        expect(['unreachable', 'full', 'failed']).toContain(machine.journal.cluster.problem?.code);
        expect((await machine.journal.info()).notices.at(-1)?.message).toMatch(/not synced with other computers yet/);
        expect((await machine.contents()).length).toBeGreaterThanOrEqual(20);
      }
      rmSync(rest);
      await nats.nodes[0].stop();
      await nats.heal();
      await a.journal.push([createVersion('later', 1)], 'a');
      await awaitAgreement([a, b], 41, 120_000);
    },
    300_000,
  );
});
