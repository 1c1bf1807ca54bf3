import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { rolldown } from 'rolldown';
import { launchBrowser } from '../../e2e/test-browser.ts';
import { toMaxBar, type Figure } from '../figures.ts';
import { computePercentile } from '../stats.ts';
import type { CollectionsBenchApi } from './collections-worker.ts';

const PASSAGES_PER_DOCUMENT = 10;

/** Search among 100,000 passages in a SharedWorker of a browser, as the gateway does it; making the index, and using it after a restart. */
export async function benchCollections({ quick }: { quick: boolean }): Promise<Figure[]> {
  const documents = Number(process.env['PERCH_BENCH_COLLECTION'] ?? (quick ? 1000 : 10_000));
  const code = await bundleWorker();
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>Bench</title>'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using browser = await launchBrowser();
  try {
    const page = await browser.page(origin);
    const worker = await startWorker(page, code);
    const chars = await worker('seed', documents, PASSAGES_PER_DOCUMENT);
    console.error(`seeded ${documents} documents`);
    // The collections were loaded before the seed.
    const indexing = await startWorker(page, code, 'indexing');
    const building = performance.now();
    let longest = 0;
    for (let seed = 1, incomplete = true; incomplete; seed++) {
      incomplete = (await indexing('search', seed)).incomplete;
      longest = Math.max(longest, await indexing('watchDelays', 100));
    }
    const built = (performance.now() - building) / 1000;
    console.error(`index complete after ${built.toFixed(0)} s`);
    const samples: number[] = [];
    for (let seed = 100; seed < (quick ? 150 : 400); seed++) samples.push((await indexing('search', seed)).ms);
    const { bytes, segments } = await indexing('measureIndex');
    const restarted = await startWorker(page, code, 'restarted');
    const ready = await restarted('search', 99);
    if (ready.found === 0 || ready.incomplete) throw new Error('the index was not usable after the restart');
    const many = (documents * PASSAGES_PER_DOCUMENT).toLocaleString('en');
    const p50 = computePercentile(samples, 0.5);
    return [
      { what: `collections: search among ${many} passages, p50`, unit: 'ms', ours: p50, bar: toMaxBar(p50, 20, 'ms') },
      { what: '  p95', unit: 'ms', ours: computePercentile(samples, 0.95) },
      { what: '  first search after a restart', unit: 'ms', ours: ready.ms, bar: toMaxBar(ready.ms, 2000, 'ms') },
      { what: '  index of 1,000 documents of 10 passages made', unit: 's', ours: built / (documents / 1000) },
      { what: '    the thread was busy for at most', unit: 'ms', ours: longest },
      {
        what: `  index in ${segments} segments, in memory too`,
        unit: 'MB',
        ours: bytes / 2 ** 20,
        floor: { name: 'texts', value: chars / 2 ** 20 },
        ratio: bytes / chars,
      },
    ];
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

async function bundleWorker(): Promise<string> {
  const build = await rolldown({ input: join(import.meta.dirname, 'collections-worker.ts'), platform: 'browser', logLevel: 'warn' });
  const { output } = await build.generate({ format: 'iife', minify: true });
  await build.close();
  return output[0].code;
}

type CallWorker = <N extends keyof CollectionsBenchApi>(
  name: N,
  ...args: Parameters<CollectionsBenchApi[N]>
) => Promise<Awaited<ReturnType<CollectionsBenchApi[N]>>>;

/** Starts a worker of another name on the same data. */
async function startWorker(page: Page, code: string, name = 'seeding'): Promise<CallWorker> {
  await page.evaluate(
    ([program, worker]) => {
      const { port } = new SharedWorker(URL.createObjectURL(new Blob([program], { type: 'text/javascript' })), worker);
      const waiting: PromiseWithResolvers<unknown>[] = [];
      port.onmessage = ({ data }: MessageEvent<{ id: number; value?: unknown; error?: string }>) => {
        if (data.error === undefined) waiting[data.id]?.resolve(data.value);
        else waiting[data.id]?.reject(new Error(data.error));
      };
      const call = (method: string, args: unknown[]): Promise<unknown> => {
        const answer = Promise.withResolvers<unknown>();
        port.postMessage({ id: waiting.push(answer) - 1, name: method, args });
        return answer.promise;
      };
      Object.assign(globalThis, { [`call ${worker}`]: call });
    },
    [code, name] as const,
  );
  return (method, ...args) =>
    page.evaluate(
      ([worker, called, given]) =>
        (globalThis as unknown as Record<string, (name: string, args: unknown[]) => Promise<unknown>>)[`call ${worker}`]?.(called, given),
      [name, method, args] as const,
    ) as never;
}
