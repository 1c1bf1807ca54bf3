import { describe, expect } from 'vitest';
import { type PortServer, serveCalls, type CallHandlers } from '#shared/link/port-calls.ts';
import { portLink } from '#shared/link/link.ts';
import { browserModelsPort, type StoredBrowserModel } from '#shared/ports/browser-models-port.ts';
import type { PageWorkerProvider } from '#shared/ports/host-api.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { verifies } from '../../../tests/requirements.ts';
import { createCacheStorage } from '../../../tests/support/cache-storage.ts';
import { waitFor } from '../../../tests/support/test-gateway.ts';
import type { LocalResult } from '../providers/local-runner.ts';
import { ModelStore } from '../browser-models/model-store.ts';
import { PageModels } from './page-models.ts';
import { PageWorkers } from './page-workers.ts';

type Calls = typeof browserModelsPort.calls;
type Events = typeof browserModelsPort.events;
type Handlers = CallHandlers<Calls>;

const ORIGIN = 'http://127.0.0.1:7333';
const never = new Promise<never>(() => {});
const done: LocalResult = { finish: 'stop', calls: [], inputTokens: 1, cachedTokens: 0, outputTokens: 1 };
const request = { messages: [{ role: 'user' as const, text: 'Hi' }] };

/** A page whose workers respond with `handlers`. */
class TestPage implements PageWorkerProvider {
  started = 0;
  stopped = 0;
  loaded: string[] = [];
  said: PortServer<Events> | undefined;
  readonly #handlers: Partial<Handlers>;
  readonly #starts: boolean;

  constructor(handlers: Partial<Handlers> = {}, starts = true) {
    this.#handlers = handlers;
    this.#starts = starts;
  }

  async start(): Promise<MessagePort> {
    this.started++;
    if (!this.#starts) throw new Error('no worker here');
    const { port1, port2 } = new MessageChannel();
    const handlers: Handlers = {
      'run.load': async ({ model }) => {
        this.loaded.push(model.repo);
        return { device: 'wasm' };
      },
      'run.generate': async () => {
        this.said?.send('run.text', { text: 'Hello', thought: false });
        return done;
      },
      'run.embed': async ({ texts }) => ({ vectors: texts.map(() => [1]), tokens: texts.length }),
      'run.transcribe': async ({ audio }) => ({ text: audio, language: 'en', duration: 1, segments: [] }),
      'run.idle': async () => ({}),
      ...this.#handlers,
    };
    this.said = serveCalls<Calls, Events>(portLink<string>(port1), browserModelsPort.calls, handlers, { fault: () => {} });
    return port2;
  }

  async stop(): Promise<void> {
    this.stopped++;
  }
}

async function createFixture(options: { idleMs?: number } = {}) {
  const storage = createCacheStorage();
  const store = new ModelStore(storage, ORIGIN);
  for (const repo of ['perch/a', 'perch/b']) {
    const model: StoredBrowserModel = {
      ...{ repo, task: 'text-generation', dtype: 'q8', graph: 'model', dataFiles: 0, contextWindow: 9, keptAt: 1 },
      files: [{ path: 'config.json', size: 3 }],
    };
    await store.putMetadata(model);
    await store.put(repo, 'config.json', 0, new Uint8Array(3));
  }
  const pages = new PageWorkers();
  const models = new PageModels({ pages, storage, origin: ORIGIN, ...options });
  const generate = async (id = 'perch/a', signal = new AbortController().signal): Promise<string> => {
    let text = '';
    await models.generate(id, request, { signal, ontext: (piece) => (text += piece.text) });
    return text;
  };
  return { models, pages, kept: store, ask: generate };
}

describe('models in workers of pages', () => {
  verifies('browser-models/turns', 'one at a time, in the newest page’s worker; another model takes the place', async () => {
    const { models, pages, ask } = await createFixture();
    const [first, second] = [new TestPage(), new TestPage()];
    pages.add('first', first);
    pages.add('second', second);
    expect(await Promise.all([ask(), ask(), ask('perch/b'), ask()])).toEqual(['Hello', 'Hello', 'Hello', 'Hello']);
    expect([first.started, second.loaded, second.stopped]).toEqual([0, ['perch/a', 'perch/b', 'perch/a'], 2]);
    expect(await models.embed('perch/a', ['x', 'y'], new AbortController().signal)).toEqual({ vectors: [[1], [1]], tokens: 2 });
    await expect(ask('perch/none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  verifies('browser-models/turns', 'an idle one is unloaded, a deleted one at once', async () => {
    const { pages, ask } = await createFixture({ idleMs: 1 });
    const page = new TestPage();
    pages.add('page', page);
    await ask();
    await waitFor(() => page.stopped === 1, 'it to be unloaded');
    const { models: others, pages: otherPages, ask: askOthers } = await createFixture();
    otherPages.add('page', page);
    await askOthers();
    expect(await others.remove('perch/a')).toBe(3);
    expect(page.stopped).toBe(2);
    expect(await others.remove('perch/a')).toBeNull();
    expect((await others.list()).map(({ id }) => id)).toEqual(['perch/b']);
    await expect(askOthers()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  verifies('browser-models/gone', 'a failing page is skipped, a closed one is reported, and the next one takes over', async () => {
    const { pages, ask } = await createFixture();
    await expect(ask()).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringContaining('need an open tab') as string });
    const begun = Promise.withResolvers<void>();
    const hanging = new TestPage({
      'run.generate': () => {
        begun.resolve();
        return never;
      },
    });
    const good = new TestPage();
    pages.add('good', good);
    pages.add('hanging', hanging);
    pages.add('broken', new TestPage({}, false));
    const reply = ask();
    await begun.promise;
    pages.remove('hanging');
    await expect(reply).rejects.toMatchObject({ message: expect.stringContaining('was closed') as string });
    pages.remove('broken');
    expect(await ask()).toBe('Hello');
    expect(good.loaded).toEqual(['perch/a']);
  });

  verifies('browser-models/gone', 'a worker’s report about a file is returned unchanged, and not stored', async () => {
    const { pages, ask } = await createFixture();
    const page = new TestPage({
      'run.load': () => Promise.reject(new RpcError('INTERNAL_ERROR', 'Couldn’t run perch/a in this browser: no graph')),
    });
    pages.add('page', page);
    for (const stopped of [1, 2]) {
      await expect(ask()).rejects.toMatchObject({ message: expect.stringContaining('no graph') as string });
      expect([page.started, page.stopped]).toEqual([stopped, stopped]);
    }
  });

  verifies('browser-models/abort', 'a worker that leaves off is kept; a load is ended', async () => {
    const { pages, ask } = await createFixture();
    const aborted = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let first = true;
    const page = new TestPage({
      'run.generate': async (_request, signal) => {
        if (!first) return done;
        first = false;
        signal.addEventListener('abort', () => aborted.resolve());
        begun.resolve();
        await aborted.promise;
        return done;
      },
      'run.idle': async () => {
        await aborted.promise;
        return {};
      },
    });
    pages.add('page', page);
    const stop = new AbortController();
    const asked = ask('perch/a', stop.signal);
    await begun.promise;
    stop.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    await aborted.promise;
    await ask();
    expect([page.started, page.stopped]).toEqual([1, 0]);

    const loading = Promise.withResolvers<void>();
    const slow = new TestPage({
      'run.load': () => {
        loading.resolve();
        return never;
      },
    });
    pages.remove('page');
    pages.add('slow', slow);
    const again = new AbortController();
    const reply = ask('perch/a', again.signal);
    await loading.promise;
    again.abort(new Error('no more'));
    await expect(reply).rejects.toThrow('no more');
    expect(slow.stopped).toBe(1);
  });
});
