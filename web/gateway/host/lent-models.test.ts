import { describe, expect } from 'vitest';
import { type Answerer, answer, type CallHandlers } from '#shared/link/calls.ts';
import { portLink } from '#shared/link/link.ts';
import { browserModelsPort, type KeptModel } from '#shared/ports/browser-models.ts';
import type { WorkerLender } from '#shared/ports/host.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { verifies } from '../../../tests/requirements.ts';
import { cacheStorage } from '../../../tests/support/cache-storage.ts';
import { until } from '../../../tests/support/gateway.ts';
import type { LocalAnswer } from '../core/providers/local-runner.ts';
import { KeptModels } from '../browser-models/kept-models.ts';
import { LentModels } from './lent-models.ts';

type Calls = typeof browserModelsPort.calls;
type Events = typeof browserModelsPort.events;
type Handlers = CallHandlers<Calls>;

const ORIGIN = 'http://127.0.0.1:7333';
const never = new Promise<never>(() => {});
const done: LocalAnswer = { finish: 'stop', calls: [], inputTokens: 1, cachedTokens: 0, outputTokens: 1 };
const request = { messages: [{ role: 'user' as const, text: 'Hi' }] };

/** A page whose workers respond with `handlers`. */
class Page implements WorkerLender {
  started = 0;
  stopped = 0;
  loaded: string[] = [];
  said: Answerer<Events> | undefined;
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
      'run.idle': async () => ({}),
      ...this.#handlers,
    };
    this.said = answer<Calls, Events>(portLink<string>(port1), browserModelsPort.calls, handlers, { fault: () => {} });
    return port2;
  }

  async stop(): Promise<void> {
    this.stopped++;
  }
}

async function world(options: { idleMs?: number } = {}) {
  const storage = cacheStorage();
  const kept = new KeptModels(storage, ORIGIN);
  for (const repo of ['perch/a', 'perch/b']) {
    const model: KeptModel = {
      ...{ repo, task: 'text-generation', dtype: 'q8', graph: 'model', dataFiles: 0, contextWindow: 9, keptAt: 1 },
      files: [{ path: 'config.json', size: 3 }],
    };
    await kept.note(model);
    await kept.put(repo, 'config.json', 0, new Uint8Array(3));
  }
  const models = new LentModels({ storage, origin: ORIGIN, ...options });
  const ask = async (id = 'perch/a', signal = new AbortController().signal): Promise<string> => {
    let text = '';
    await models.generate(id, request, { signal, ontext: (piece) => (text += piece.text) });
    return text;
  };
  return { models, kept, ask };
}

describe('models in workers of pages', () => {
  verifies('browser-models/turns', 'one at a time, in the newest page’s worker; another model takes the place', async () => {
    const { models, ask } = await world();
    const [first, second] = [new Page(), new Page()];
    models.lend('first', first);
    models.lend('second', second);
    expect(await Promise.all([ask(), ask(), ask('perch/b'), ask()])).toEqual(['Hello', 'Hello', 'Hello', 'Hello']);
    expect([first.started, second.loaded, second.stopped]).toEqual([0, ['perch/a', 'perch/b', 'perch/a'], 2]);
    expect(await models.embed('perch/a', ['x', 'y'], new AbortController().signal)).toEqual({ vectors: [[1], [1]], tokens: 2 });
    await expect(ask('perch/none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  verifies('browser-models/turns', 'an idle one is unloaded, a deleted one at once', async () => {
    const { models, ask } = await world({ idleMs: 1 });
    const page = new Page();
    models.lend('page', page);
    await ask();
    await until(() => page.stopped === 1, 'it to be unloaded');
    const { models: others, ask: askOthers } = await world();
    others.lend('page', page);
    await askOthers();
    expect(await others.remove('perch/a')).toBe(3);
    expect(page.stopped).toBe(2);
    expect(await others.remove('perch/a')).toBeNull();
    expect((await others.list()).map(({ id }) => id)).toEqual(['perch/b']);
    await expect(askOthers()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  verifies('browser-models/gone', 'a failing page is skipped, a closed one is reported, and the next one takes over', async () => {
    const { models, ask } = await world();
    await expect(ask()).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringContaining('need an open tab') as string });
    const begun = Promise.withResolvers<void>();
    const hanging = new Page({
      'run.generate': () => {
        begun.resolve();
        return never;
      },
    });
    const good = new Page();
    models.lend('good', good);
    models.lend('hanging', hanging);
    models.lend('broken', new Page({}, false));
    const asked = ask();
    await begun.promise;
    models.gone('hanging');
    await expect(asked).rejects.toMatchObject({ message: expect.stringContaining('was closed') as string });
    models.gone('broken');
    expect(await ask()).toBe('Hello');
    expect(good.loaded).toEqual(['perch/a']);
  });

  verifies('browser-models/gone', 'a worker’s report about a file is returned unchanged, and not stored', async () => {
    const { models, ask } = await world();
    const page = new Page({
      'run.load': () => Promise.reject(new RpcError('INTERNAL_ERROR', 'Couldn’t run perch/a in this browser: no graph')),
    });
    models.lend('page', page);
    for (const stopped of [1, 2]) {
      await expect(ask()).rejects.toMatchObject({ message: expect.stringContaining('no graph') as string });
      expect([page.started, page.stopped]).toEqual([stopped, stopped]);
    }
  });

  verifies('browser-models/abort', 'a worker that leaves off is kept; a load is ended', async () => {
    const { models, ask } = await world();
    const left = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let first = true;
    const page = new Page({
      'run.generate': async (_request, signal) => {
        if (!first) return done;
        first = false;
        signal.addEventListener('abort', () => left.resolve());
        begun.resolve();
        await left.promise;
        return done;
      },
      'run.idle': async () => {
        await left.promise;
        return {};
      },
    });
    models.lend('page', page);
    const stop = new AbortController();
    const asked = ask('perch/a', stop.signal);
    await begun.promise;
    stop.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    await left.promise;
    await ask();
    expect([page.started, page.stopped]).toEqual([1, 0]);

    const loading = Promise.withResolvers<void>();
    const slow = new Page({
      'run.load': () => {
        loading.resolve();
        return never;
      },
    });
    models.gone('page');
    models.lend('slow', slow);
    const again = new AbortController();
    const wanted = ask('perch/a', again.signal);
    await loading.promise;
    again.abort(new Error('no more'));
    await expect(wanted).rejects.toThrow('no more');
    expect(slow.stopped).toBe(1);
  });
});
