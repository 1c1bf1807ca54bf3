import { setTimeout as sleep } from 'node:timers/promises';
import { launchBrowser } from '../e2e/test-browser.ts';
import { startPerch } from '../e2e/perch-process.ts';
import { disableRateLimit } from './bench-gateway.ts';
import { createZipfWords, measureCollectionIndex, seedCollection } from './collection-seed.ts';
import { connectCaller } from './connect-caller.ts';
import { toMaxBar, type Figure } from './figures.ts';
import { computePercentile, measureSequential } from './stats.ts';

const PASSAGES_PER_DOCUMENT = 10;
const DOCUMENTS_PER_BATCH = 500;
const POLL_MS = 200;
const QUERY_WORDS = 4;

/** Search in a collection of 100,000 passages in the browser, through the bridge; making its index, and using it again after a restart. */
export async function benchCollections({ quick }: { quick: boolean }): Promise<Figure[]> {
  const documents = Number(process.env['PERCH_BENCH_DOCUMENTS'] ?? (quick ? 1000 : 10_000));
  const passages = documents * PASSAGES_PER_DOCUMENT;
  await using perch = await startPerch({ host: 'tab' });
  await using browser = await launchBrowser();
  // The app creates the vault, which is then filled while the app is closed.
  const app = await browser.page(await perch.open());
  await app.locator('#composer').waitFor();
  using first = await connectCaller(perch.wsUrl, perch.token);
  await disableRateLimit(first);
  const health = await browser.page(`${perch.url}/health`);
  await app.close();
  await browser.killSharedWorkers(perch.url);
  let text = 0;
  for (let at = 0; at < documents; at += DOCUMENTS_PER_BATCH)
    text += await health.evaluate(seedCollection, [at, Math.min(documents, at + DOCUMENTS_PER_BATCH), PASSAGES_PER_DOCUMENT] as const);

  const page = await browser.page(perch.url);
  await page.locator('#composer').waitFor();
  using caller = await connectCaller(perch.wsUrl, perch.token);
  const latencies: number[] = [];
  const building = performance.now();
  for (let incomplete = true; incomplete;) {
    incomplete = (await search(caller, 'ba')).incomplete;
    latencies.push(...(await measureSequential(1, () => caller.call('health', {}))));
    await sleep(POLL_MS);
  }
  const built = (performance.now() - building) / 1000;
  const draw = createZipfWords(11);
  const query = (): string => Array.from({ length: QUERY_WORDS }, draw).join(' ');
  await measureSequential(20, () => search(caller, query()));
  const samples = await measureSequential(quick ? 50 : 300, () => search(caller, query()));
  const index = await health.evaluate(measureCollectionIndex);

  await page.close();
  await browser.killSharedWorkers(perch.url);
  const again = await browser.page(perch.url);
  await again.locator('#composer').waitFor();
  using next = await connectCaller(perch.wsUrl, perch.token);
  const restarting = performance.now();
  const { passages: found } = await search(next, query());
  const ready = performance.now() - restarting;
  if (found.length === 0) throw new Error('nothing was found after the restart');
  const many = passages.toLocaleString('en');
  const p50 = computePercentile(samples, 0.5);
  return [
    { what: `collections: search among ${many} passages, p50`, unit: 'ms', ours: p50, bar: toMaxBar(p50, 20, 'ms') },
    { what: '  p95', unit: 'ms', ours: computePercentile(samples, 0.95) },
    { what: '  first search after a restart', unit: 'ms', ours: ready, bar: toMaxBar(ready, 2000, 'ms') },
    { what: '  index made, per 1,000 documents of 10 passages', unit: 's', ours: built / (documents / 1000) },
    {
      what: '    `health` meanwhile, p95',
      unit: 'ms',
      ours: computePercentile(latencies, 0.95),
      bar: toMaxBar(computePercentile(latencies, 0.95), 50, 'ms'),
    },
    {
      ...{ what: '  index, in memory too', unit: 'MB', ours: index / 2 ** 20 },
      floor: { name: 'texts', value: text / 2 ** 20 },
      ratio: index / text,
    },
  ];
}

async function search(caller: { call(method: string, params: object): Promise<string> }, query: string) {
  const response = JSON.parse(await caller.call('collections.search', { query, limit: 10 })) as {
    payload: { passages: unknown[]; incomplete: boolean };
  };
  return response.payload;
}
