import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { toBase64 } from '#shared/base64.ts';
import { GatewayClient } from '#shared/client/client.ts';
import { foldersPort } from '#shared/ports/folders-port.ts';
import { webPort } from '#shared/ports/web-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { createFoldersHandlers } from '../../../../bridge/capabilities/folders/folders-handlers.ts';
import { ProcessKeeper } from '../../../../bridge/processes/process-keeper.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createCapability, FakeBridge } from '../../../../tests/support/fake-bridge.ts';
import { createTestGateway } from '../../../../tests/support/test-gateway.ts';
import { listDocuments, waitUntil, waitUntilIdle } from './fixture.ts';

/** A folder and the bridge's real port over it. */
async function createFolder(files: Record<string, string>) {
  const [home, root] = [await mkdtemp(join(tmpdir(), 'perch-')), await mkdtemp(join(tmpdir(), 'docs-'))];
  const write = async (all: Record<string, string>): Promise<void> => {
    for (const [path, text] of Object.entries(all)) await writeFile(join(root, path), text);
  };
  await write(files);
  const bridge = new FakeBridge(
    createCapability(foldersPort, createFoldersHandlers({ home, ownFolder: home, keeper: new ProcessKeeper(() => {}) })),
  );
  return {
    ...{ root, bridge, write },
    [Symbol.asyncDispose]: async () => {
      bridge.detach();
      await Promise.all([rm(home, { recursive: true }), rm(root, { recursive: true, force: true })]);
    },
  };
}

describe('a folder on the bridge’s disk', () => {
  verifies('collections/folders', 'is indexed, followed and read; what is gone is forgotten', async () => {
    await using folder = await createFolder({ 'a.md': 'The heron stands in the reeds.', 'b.txt': 'An otter dives.' });
    await using gw = await createTestGateway({ bridge: folder.bridge });
    const { client } = await gw.client();
    const { collection } = await client.call('collections.create', {
      name: 'Birds',
      keepOriginals: false,
      sources: [{ kind: 'folder', path: folder.root }],
    });
    const indexed = await waitUntilIdle(client, collection.id);
    expect(indexed).toMatchObject({ documentCount: 2, failedCount: 0, sources: [{ kind: 'folder', problem: null }] });
    const [first] = await listDocuments(client, collection.id);
    expect(first).toMatchObject({ path: 'a.md', status: 'indexed', hasOriginal: true });
    const original = await client.call('collections.original', { documentId: first?.id ?? '' });
    expect(original.data).toBe(toBase64(new TextEncoder().encode('The heron stands in the reeds.')));
    const search = async (query: string) => (await client.call('collections.search', { query })).passages.map(({ path }) => path);
    await rm(join(folder.root, 'b.txt'));
    await folder.write({ 'a.md': 'The kingfisher dives, and the heron watches.', 'c.md': 'A beaver builds.' });
    // The watch reports the change; a refresh finds it in any case.
    await client.call('collections.refresh', { collectionId: collection.id });
    await waitUntil(async () => (await search('kingfisher')).length === 1 && (await search('beaver')).length === 1);
    expect(await search('otter')).toEqual([]);
    expect((await listDocuments(client, collection.id)).map(({ path }) => path)).toEqual(['a.md', 'c.md']);
    await client.call('collections.update', { collectionId: collection.id, sources: [] });
    expect(await listDocuments(client, collection.id)).toEqual([]);
    expect(await search('heron')).toEqual([]);
    expect(gw.faults).toEqual([]);
  });

  verifies('collections/folders', 'waits for the bridge, and says so', async () => {
    await using folder = await createFolder({ 'a.md': 'The heron stands in the reeds.' });
    await using gw = await createTestGateway({ bridge: folder.bridge });
    const { client } = await gw.client();
    const sources = [{ kind: 'folder' as const, path: folder.root }];
    const { collection } = await client.call('collections.create', { name: 'Birds', sources });
    await waitUntilIdle(client, collection.id);
    folder.bridge.detach();
    await client.call('collections.refresh', { collectionId: collection.id });
    const waiting = await waitUntilIdle(client, collection.id);
    expect(waiting).toMatchObject({ state: 'waiting', waitingFor: 'The bridge is not connected.', documentCount: 1 });
    await folder.write({ 'b.md': 'An otter dives.' });
    folder.bridge.attach();
    await waitUntil(async () => (await client.call('collections.search', { query: 'otter' })).passages.length === 1);
    expect(await waitUntilIdle(client, collection.id)).toMatchObject({ state: 'idle', waitingFor: null });
  });

  verifies('collections/rights', 'can only be added by a person, and not if it does not exist', async () => {
    await using folder = await createFolder({});
    await using gw = await createTestGateway({ bridge: folder.bridge });
    const { client } = await gw.client();
    const sources = [{ kind: 'folder' as const, path: join(folder.root, 'missing') }];
    await expect(client.call('collections.create', { name: 'Birds', sources })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await folder.write({ 'mail.mbox': '' });
    expect(await client.call('collections.folders', { path: folder.root })).toMatchObject({ folders: [], files: ['mail.mbox'] });
    await expect(client.call('collections.folders', { path: join(folder.root, 'missing') })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const key = await GatewayClient.connect(gw.link({ principal: 'key:k1', scopes: ['collections'] }), {
      params: { clientName: 'script' },
    });
    await expect(key.call('collections.create', { name: 'Birds', sources })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await expect(key.call('collections.folders', {})).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    const web = [{ kind: 'web' as const, urls: ['https://a.test/'] }];
    await expect(key.call('collections.create', { name: 'Birds', sources: web })).rejects.toThrow('scope "web"');
    const model = key.call('collections.create', { name: 'Birds', embeddingModel: 'test/small' });
    await expect(model).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    expect((await key.call('collections.create', { name: 'Birds' })).collection.name).toBe('Birds');
    key.close();
  });
});

describe('web pages', () => {
  const pages: Record<string, string> = {
    'https://a.test/':
      '<title>Start</title><main><p>Welcome to the marsh.</p><a href="/birds#top">Birds</a> <a href="https://b.test/">Elsewhere</a><a href="/old">Old</a></main>',
    'https://a.test/birds': '<title>Birds</title><main><p>The bittern booms at dusk.</p><a href="/deep">Deep</a></main>',
    'https://a.test/deep': '<title>Deep</title><main><p>Too far away.</p></main>',
    'https://a.test/old': '<title>Old</title><main><p>An obsolete page.</p></main>',
  };
  const createBridge = () =>
    new FakeBridge(
      createCapability(webPort, {
        'web.fetch': async ({ url }) => {
          const html = pages[url];
          if (html === undefined) throw new RpcError('NOT_FOUND', `${url} does not exist.`);
          return { url, status: 200, contentType: 'text/html; charset=utf-8', body: toBase64(new TextEncoder().encode(html)) };
        },
      }),
    );

  verifies(
    'collections/web',
    'are followed on the same site, up to a depth; pages that nothing links to any more are removed',
    async () => {
      const bridge = createBridge();
      await using gw = await createTestGateway({ bridge });
      const { client } = await gw.client();
      const sources = [{ kind: 'web' as const, urls: ['https://a.test/', 'https://a.test/missing'], depth: 1 }];
      const { collection } = await client.call('collections.create', { name: 'Marsh', sources });
      expect(await waitUntilIdle(client, collection.id)).toMatchObject({ documentCount: 4, failedCount: 1 });
      const documents = await listDocuments(client, collection.id);
      expect(documents.map(({ path, status }) => [path, status])).toEqual([
        ['https://a.test/', 'indexed'],
        ['https://a.test/birds', 'indexed'],
        ['https://a.test/missing', 'failed'],
        ['https://a.test/old', 'indexed'],
      ]);
      expect(documents[2]?.error).toBe('https://a.test/missing does not exist.');
      const [found] = (await client.call('collections.search', { query: 'bittern' })).passages;
      expect(found).toMatchObject({ title: 'Birds', url: 'https://a.test/birds' });
      pages['https://a.test/'] = pages['https://a.test/']?.replace('<a href="/old">Old</a>', '') ?? '';
      await client.call('collections.refresh', { collectionId: collection.id });
      await waitUntilIdle(client, collection.id);
      expect((await listDocuments(client, collection.id)).map(({ path }) => path)).not.toContain('https://a.test/old');
      bridge.detach();
    },
  );

  verifies('collections/robots', 'that a site asks programs not to visit are left out and counted; named ones are read', async () => {
    const files: Record<string, string> = {
      'https://c.test/robots.txt': 'User-agent: *\nDisallow: /private\nAllow: /private/open',
      'https://c.test/':
        '<p>Start of the site.</p><a href="/a">A</a><a href="/private/b">B</a><a href="/private/open">C</a><a href="/closed">D</a>',
      'https://c.test/a': '<p>About herons.</p>',
      'https://c.test/private/b': '<p>About owls.</p>',
      'https://c.test/private/open': '<p>About storks.</p>',
      'https://c.test/closed': '<meta name="robots" content="noindex, nofollow"><p>About gulls.</p><a href="/hidden">Hidden</a>',
      'https://d.test/private': '<p>Named by the person.</p><a href="/more">More</a>',
      'https://d.test/more': '<p>About ducks.</p>',
    };
    const bridge = new FakeBridge(
      createCapability(webPort, {
        'web.fetch': async ({ url }) => {
          const status = url === 'https://d.test/robots.txt' ? 503 : 404;
          const html = files[url];
          if (html === undefined) throw new RpcError('INTERNAL_ERROR', `${url} returned ${status}`, { details: { status } });
          return { url, status: 200, contentType: 'text/html', body: toBase64(new TextEncoder().encode(html)) };
        },
      }),
    );
    await using gw = await createTestGateway({ bridge });
    const { client } = await gw.client();
    const index = async (urls: string[]) => {
      const { collection } = await client.call('collections.create', { name: urls.join(' '), sources: [{ kind: 'web', urls, depth: 2 }] });
      await waitUntilIdle(client, collection.id);
      return (await listDocuments(client, collection.id)).map(({ path, notes = [] }) => [path.replace(/^https:/, ''), ...notes]);
    };
    expect(await index(['https://c.test/'])).toEqual([
      ['//c.test/', 'Links left out, as the site’s robots.txt asks: 1'],
      ['//c.test/a'],
      ['//c.test/closed'],
      ['//c.test/private/open'],
    ]);
    expect(await index(['https://c.test/private/b'])).toEqual([['//c.test/private/b']]);
    // Rules that cannot be read because the server fails forbid everything.
    expect(await index(['https://d.test/private'])).toEqual([['//d.test/private', 'Links left out, as the site’s robots.txt asks: 1']]);
    bridge.detach();
  });
});
