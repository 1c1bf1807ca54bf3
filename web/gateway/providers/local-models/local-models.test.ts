import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import { ggufPort } from '#shared/ports/gguf-port.ts';
import { modelDownloadsPort } from '#shared/ports/model-downloads-port.ts';
import { contracts } from '#shared/rpc/methods/index.ts';
import { createDiskModels } from '../../../../bridge/capabilities/models/disk-models.ts';
import { ProcessKeeper } from '../../../../bridge/processes/process-keeper.ts';
import { LazyPageModels } from '../../host/lazy-page-models.ts';
import { PageWorkers } from '../../host/page-workers.ts';
import { createFetch } from '../../ports/create-fetch.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createCacheStorage } from '../../../../tests/support/cache-storage.ts';
import { FakeBridge, createCapability } from '../../../../tests/support/fake-bridge.ts';
import { createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';
import { createGgufFile } from '../../../../tests/support/gguf-file.ts';
import { type HubFaults, startHubServer } from '../../../../tests/support/hub-server.ts';
import { createChatModel } from '../../../../tests/support/onnx-file.ts';

const GGUF_BYTES = createGgufFile();
const MODEL_ID = 'perch/tiny/tiny.gguf';

/** A bridge with its own home, from start to end. */
function startBridge(home: string, env: NodeJS.ProcessEnv) {
  const log = (): void => {};
  return createDiskModels({ home, keeper: new ProcessKeeper(log), log, env, waitMs: 1 });
}

async function createFixture(faults: HubFaults = {}) {
  const parts = new AsyncDisposableStack();
  const hub = parts.use(
    await startHubServer({ 'perch/tiny': { 'tiny.gguf': GGUF_BYTES }, 'perch/words': createChatModel('Hello') }, faults),
  );
  const home = mkdtempSync(join(tmpdir(), 'perch-models-'));
  parts.defer(() => rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  const disk = startBridge(home, hub.env);
  parts.defer(() => disk.close());
  const bridge = new FakeBridge(createCapability(ggufPort, disk.running), createCapability(modelDownloadsPort, disk.downloads.handlers));
  const browserModels = new LazyPageModels({ pages: new PageWorkers(), storage: createCacheStorage(), origin: 'http://127.0.0.1:7333' });
  let allowed: () => ReadonlySet<string> = () => new Set();
  const gw = parts.use(
    await createTestGateway({
      bridge,
      browserModels,
      useGuide: true,
      fetch: createFetch({ getAllowedOrigins: () => allowed(), getEgress: () => null }),
    }),
  );
  allowed = () => gw.gateway.origins();
  const { client, events } = await gw.client();
  await client.call('config.patch', { patch: { models: { hub: hub.env.HF_ENDPOINT } } });
  const downloads = async () => contracts['models.downloads'].result.parse(await client.call('models.downloads', {})).downloads;
  const local = async () => contracts['models.local'].result.parse(await client.call('models.local', {})).models;
  return {
    ...{ hub, home, disk, bridge, gw, client, events, downloads, local },
    /** Reported states of a download, in order. */
    told: (id: string) =>
      events.flatMap(({ event, payload }) => {
        const parsed = contracts['models.downloads'].result.shape.downloads.element.safeParse(payload);
        return event === 'models.progress' && parsed.success && parsed.data.id === id ? [parsed.data] : [];
      }),
    async over(id: string) {
      const one = async () => (await downloads()).find((each) => each.id === id);
      await waitFor(async () => (await one())?.state !== 'running', 'the download to end');
      return one();
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

verifies(
  ['models.local/call', 'models.download/call', 'models.downloads/call', 'models.deleteLocal/call', 'models.select/call'],
  'to the disk and into the browser by the same methods',
  async () => {
    await using at = await createFixture();
    const { client, downloads, local, over, told } = at;
    expect([await local(), await downloads()]).toEqual([[], []]);
    const disk = await client.call('models.download', { repo: 'perch/tiny' });
    expect(await over(disk.id)).toMatchObject({
      backend: 'gguf',
      state: 'done',
      modelId: MODEL_ID,
      bytes: GGUF_BYTES.length,
      total: GGUF_BYTES.length,
    });
    const browser = await client.call('models.download', { repo: 'perch/words', backend: 'browser' });
    expect(await over(browser.id)).toMatchObject({ backend: 'browser', state: 'done', modelId: 'perch/words' });
    for (const [{ id }, modelId] of [
      [disk, MODEL_ID],
      [browser, 'perch/words'],
    ] as const) {
      await waitFor(() => told(id).at(-1)?.state === 'done', 'the end to be told');
      expect(told(id)[0]).toMatchObject({ state: 'running' });
      expect(told(id).at(-1)).toMatchObject({ modelId });
    }
    expect((await downloads()).map(({ id }) => id)).toEqual([browser.id, disk.id]);
    expect(await local()).toMatchObject([
      { id: MODEL_ID, backend: 'gguf', contextWindow: 2048, problem: null },
      { id: 'perch/words', backend: 'browser', contextWindow: 256, problem: null },
    ]);
    const keys = contracts['models.list'].result.parse(await client.call('models.list', {})).models.map(({ key }) => key);
    expect(keys).toEqual(['guide/guide', `gguf/${MODEL_ID}`, 'browser/perch/words']);
    for (const [modelId, selected] of [
      [MODEL_ID, `gguf/${MODEL_ID}`],
      ['perch/words', 'browser/perch/words'],
    ] as const) {
      expect(await client.call('models.select', { modelId })).toEqual({ selected });
      expect(await client.call('config.get', { key: 'chat.model' })).toMatchObject({ value: selected });
      const deletion = contracts['models.deleteLocal'].result.parse(await client.call('models.deleteLocal', { modelId }));
      expect(deletion.sizeBytes).toBeGreaterThan(100);
      expect(deletion.defaultCleared).toBe(true);
      expect((await client.call('config.get', {})).value).not.toHaveProperty('chat.model');
      await expect(client.call('models.select', { modelId })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(client.call('models.deleteLocal', { modelId })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    expect(await local()).toEqual([]);
    expect(existsSync(join(at.home, 'models', 'perch'))).toBe(false);
    expect(at.gw.faults).toEqual([]);
  },
);

verifies(
  ['models.cancelDownload/call', 'models.downloads/call'],
  'downloads that ended are reported, and can be resumed; failures give a reason',
  async () => {
    await using at = await createFixture({ cutAfter: 0 });
    const { client, downloads, over, hub } = at;
    const { id } = await client.call('models.download', { repo: 'perch/tiny' });
    expect(await over(id)).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/was lost|sent only 0/) as string,
      modelId: null,
    });
    expect(await client.call('models.cancelDownload', { id })).toEqual({ cancelled: false });
    await expect(client.call('models.cancelDownload', { id: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    delete hub.faults.cutAfter;
    for (const backend of ['gguf', 'browser'] as const) {
      const before = hub.asked.length;
      hub.faults.silent = true;
      const repo = backend === 'gguf' ? 'perch/tiny' : 'perch/words';
      const begun = await client.call('models.download', { repo, backend });
      expect(await client.call('models.download', { repo, backend })).toEqual(begun);
      await waitFor(() => hub.asked.length > before, 'the hub to be asked');
      expect((await downloads()).find((each) => each.id === begun.id)).toMatchObject({ state: 'running' });
      expect(await client.call('models.cancelDownload', begun)).toEqual({ cancelled: true });
      expect(await over(begun.id)).toMatchObject({ state: 'cancelled' });
      await waitFor(() => at.told(begun.id).at(-1)?.state === 'cancelled', 'it to be told');
    }
    await expect(client.call('models.download', { repo: 'perch/words', backend: 'browser', source: 'modelscope' })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
    });
    at.bridge.detach();
    await expect(client.call('models.download', { repo: 'perch/tiny' })).rejects.toMatchObject({
      message: expect.stringContaining('needs the bridge') as string,
    });
    expect((await downloads()).every(({ backend }) => backend === 'browser')).toBe(true);
  },
);

verifies(
  'models.cancelDownload/forget',
  'a dismissed download is removed with its partial files; started again, it is listed once',
  async () => {
    await using at = await createFixture();
    const { client, downloads, over, hub } = at;
    const part = join(at.home, 'models/perch/tiny/tiny.gguf.part');
    for (const [repo, backend] of [
      ['perch/tiny', 'gguf'],
      ['perch/words', 'browser'],
    ] as const) {
      const begin = () => client.call('models.download', { repo, backend });
      const listed = async () => (await downloads()).map(({ id, state }) => [id, state]);
      hub.faults.status = 404;
      const first = await begin();
      expect(await over(first.id)).toMatchObject({ state: 'failed' });
      delete hub.faults.status;
      // The download is interrupted each time at the same position.
      Object.assign(hub.faults, { cutAfter: 10, ignoresRange: true });
      const second = await begin();
      expect(await over(second.id)).toMatchObject({ state: 'failed' });
      expect(await listed()).toEqual([[second.id, 'failed']]);
      if (backend === 'gguf') expect(existsSync(part)).toBe(true);
      expect(await client.call('models.cancelDownload', { ...second, forget: true })).toEqual({ cancelled: false });
      expect(await listed()).toEqual([]);
      await expect(client.call('models.cancelDownload', { ...second, forget: true })).rejects.toMatchObject({ code: 'NOT_FOUND' });

      // One under way ends first.
      hub.faults.silent = true;
      const third = await begin();
      expect(await client.call('models.cancelDownload', { ...third, forget: true })).toEqual({ cancelled: true });
      expect(await listed()).toEqual([]);
      hub.faults.silent = false;
    }
    expect(existsSync(join(at.home, 'models', 'perch'))).toBe(false);
    expect(await at.local()).toEqual([]);
  },
);

verifies('models/restart', 'an interrupted download continues when the bridge restarts', async () => {
  await using at = await createFixture({ silent: true });
  const { client, hub, home } = at;
  const { id } = await client.call('models.download', { repo: 'perch/tiny' });
  await waitFor(() => hub.asked.length > 0, 'the hub to be asked');
  await at.disk.close();
  expect(JSON.parse(readFileSync(join(home, 'model-downloads.json'), 'utf8'))).toMatchObject({ downloads: [{ id, state: 'running' }] });
  hub.faults.silent = false;
  const again = startBridge(home, hub.env);
  try {
    await again.downloads.resume();
    const call = { signal: new AbortController().signal, send: () => {} };
    const found = async () => (await again.downloads.handlers['downloads.list']({}, call)).downloads.find((each) => each.id === id);
    await waitFor(async () => (await found())?.state === 'done', 'it to be done');
    expect((await again.running['gguf.list']({}, call)).models.map((each) => each.id)).toEqual([MODEL_ID]);
  } finally {
    await again.close();
  }
  expect(JSON.parse(readFileSync(join(home, 'model-downloads.json'), 'utf8'))).toEqual({ version: 1, downloads: [] });
});

verifies('models/persons', 'a program with all scopes does none of it', async () => {
  await using at = await createFixture();
  const program = await GatewayClient.connect(at.gw.link({ principal: 'key:1' }), { params: { clientName: 'program' } });
  await program.call('models.local', {});
  await program.call('models.downloads', {});
  for (const call of [
    () => program.call('models.download', { repo: 'perch/tiny' }),
    () => program.call('models.cancelDownload', { id: 'x' }),
    () => program.call('models.deleteLocal', { modelId: MODEL_ID }),
    () => program.call('models.select', { modelId: MODEL_ID }),
  ])
    await expect(call()).rejects.toMatchObject({ code: 'AUTH_REQUIRED', message: expect.stringContaining('Only a person') as string });
  program.close();
  expect(await at.downloads()).toEqual([]);
});

verifies('browser-models/origins', 'a hub is among the origins as long as a download lasts', async () => {
  await using at = await createFixture({ silent: true });
  const { client, hub, gw, over } = at;
  const origin = hub.env.HF_ENDPOINT;
  expect(gw.gateway.origins().has(origin)).toBe(false);
  const { id } = await client.call('models.download', { repo: 'perch/words', backend: 'browser' });
  await waitFor(() => hub.asked.length > 0, 'the hub to be asked');
  expect(gw.gateway.origins().has(origin)).toBe(true);
  await client.call('models.cancelDownload', { id });
  await over(id);
  await waitFor(() => !gw.gateway.origins().has(origin), 'it to be forgotten');
  expect(gw.gateway.origins().has('https://huggingface.co')).toBe(false);
});
