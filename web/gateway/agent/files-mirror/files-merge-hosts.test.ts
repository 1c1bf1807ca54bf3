import { expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { waitFor } from '../../../../tests/support/test-gateway.ts';
import { type TestHost, TestHosts } from '../../../../tests/support/test-hosts.ts';

/** Actions of two partitioned hosts; the first one is active. */
async function whilePartitioned(
  hosts: TestHosts,
  [one, two]: [TestHost, TestHost],
  work: (client: GatewayClient, of: 'ours' | 'theirs') => Promise<unknown>,
): Promise<{ a: GatewayClient; b: GatewayClient }> {
  const [{ client: a }, { client: b }] = [await one.client(), await two.client()];
  two.crash();
  await waitFor(() => two.replicator.state().state === 'away');
  await work(a, 'ours');
  await work(b, 'theirs');
  two.replicator.attach(hosts.journal.connect());
  await two.waitForSync();
  await one.waitForSync();
  return { a, b };
}

verifies('vault.files/merged', 'memories added on two partitioned gateways exist on both, without a conflict', async () => {
  const hosts = new TestHosts();
  await using one = await hosts.host();
  await using two = await hosts.host();
  const { a, b } = await whilePartitioned(hosts, [one, two], (client, of) => client.call('memory.add', { text: `This is ${of}` }));
  const getMemoryTexts = async (client: GatewayClient) => (await client.call('memory.list', {})).memories.map(({ text }) => text).sort();
  await waitFor(async () => (await getMemoryTexts(b)).length === 2);
  expect(await getMemoryTexts(a)).toEqual(['This is ours', 'This is theirs']);
  await waitFor(async () => (await b.call('sync.status', {})).conflicts === 0);
  expect((await a.call('sync.conflicts', {})).conflicts).toEqual([]);
  expect([...one.faults, ...two.faults]).toEqual([]);
});

verifies('vault.files/merged', 'an inactive host merges nothing; it does once it becomes active', async () => {
  const hosts = new TestHosts();
  await using one = await hosts.host();
  await using two = await hosts.host();
  // Nobody serves.
  await using leavingHost = await hosts.host();
  hosts.activate(leavingHost);
  leavingHost.crash();
  await waitFor(() => leavingHost.replicator.state().state === 'away');
  const { a } = await whilePartitioned(hosts, [one, two], (client, of) => client.call('memory.add', { text: `This is ${of}` }));
  await waitFor(async () => (await a.call('sync.status', {})).conflicts === 1);
  expect((await a.call('memory.list', {})).memories).toHaveLength(1);
  hosts.activate(one);
  await waitFor(async () => (await a.call('sync.status', {})).conflicts === 0);
  expect((await a.call('memory.list', {})).memories).toHaveLength(2);
});

verifies(
  ['vault.files/copies', 'sync.conflicts/lists', 'sync.resolve/resolves'],
  'a text and a picture changed on two partitioned hosts: the other version of each is listed, and can be restored',
  async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host();
    await using two = await hosts.host();
    const png = (of: string): string => Buffer.from(`\x89PNG\r\n\x1a\n\0${of}`, 'latin1').toString('base64');
    const { a, b } = await whilePartitioned(hosts, [one, two], async (client, of) => {
      await client.call('workspace.write', { path: 'notes.md', content: `${of} `.repeat(1_000) });
      await client.call('workspace.write', { path: 'a/picture.png', content: png(of), encoding: 'base64' });
    });
    await waitFor(async () => (await a.call('sync.conflicts', {})).conflicts.length === 2);
    const { conflicts } = await a.call('sync.conflicts', {});
    const of = (path: string) => conflicts.find(({ about }) => about === `main/${path}`);
    const [notes, picture] = [of('notes.md'), of('a/picture.png')];
    expect(notes).toMatchObject({
      kind: 'file',
      aside: expect.stringMatching(/^(ours|theirs) /),
      kept: expect.stringMatching(/^(ours|theirs) /),
    });
    expect(notes?.aside).toHaveLength(500);
    expect(notes?.aside.slice(0, 4)).not.toBe(notes?.kept?.slice(0, 4));
    expect(picture).toMatchObject({ kind: 'file', aside: expect.stringMatching(/^application\/octet-stream, 1[35] bytes$/) });

    const lost = picture?.aside.includes('13') ? 'ours' : 'theirs';
    expect(await a.call('sync.resolve', { id: picture?.id ?? '', choice: 'restore' })).toEqual({ resolved: true });
    // Its label may be gone with the version that won.
    expect((await a.call('review.list', {})).items.map(({ id, sources }) => [id, sources])).toEqual([
      ['file:main/a/picture.png', ['unknown:another version']],
    ]);
    const read = async (client: GatewayClient) => (await client.call('workspace.read', { path: 'a/picture.png' })).content;
    expect(await read(a)).toBe(png(lost));
    await waitFor(async () => (await read(b)) === png(lost));
    expect(await a.call('sync.resolve', { id: notes?.id ?? '', choice: 'keep' })).toEqual({ resolved: true });
    expect((await a.call('workspace.read', { path: 'notes.md' })).content.slice(0, 499)).toBe(notes?.kept?.slice(0, 499));
    expect((await a.call('sync.status', {})).conflicts).toBe(0);
    expect([...one.faults, ...two.faults]).toEqual([]);
  },
);
