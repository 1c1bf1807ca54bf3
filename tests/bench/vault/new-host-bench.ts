import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchBrowser } from '../../e2e/test-browser.ts';
import { type Perch, startPerch } from '../../e2e/perch-process.ts';
import { SocketCaller } from '../caller.ts';
import { toMaxBar, type Figure } from '../figures.ts';
import { disableRateLimit } from '../bench-gateway.ts';
import { measureGatewayMemory } from '../process-memory.ts';
import { computeMedian, getMonotonicTime, computePercentile } from '../stats.ts';
import { type BenchHost, linkHost, openWorker } from './bench-host.ts';
import { fillJournal } from './yearly-records.ts';

/** Sync of 100,000 records from the journal to an empty browser; then the lag between that host and others. */
export async function benchNewHost({ quick }: { quick: boolean }): Promise<Figure[]> {
  const home = mkdtempSync(join(tmpdir(), 'perch-bench-'));
  try {
    const { records, bytes } = await fillJournal(home);
    const since = performance.now();
    await using perch = await startPerch({ home, host: 'headless' });
    // Clients wait until the host has caught up.
    using caller = await SocketCaller.connect(perch.wsUrl, perch.token);
    await caller.call('health', {});
    const filled = performance.now() - since;
    await disableRateLimit(caller);
    const memory = measureGatewayMemory(perch.pid);
    const empty = await measureEmptyStart();
    const figures: Figure[] = [
      {
        ...{ what: `a new managed Chromium has ${records.toLocaleString('en')} records, from the start`, unit: 's', ours: filled / 1000 },
        floor: { name: 'none', value: empty / 1000 },
        bar: toMaxBar(filled / 1000, 30, 's'),
      },
      { what: '  the journal on disk', unit: 'MB', ours: bytes / 1024 / 1024 },
    ];
    if (memory) {
      figures.push(
        { what: '  memory of the bridge then (PSS)', unit: 'MB', ours: memory.bridge / 1024 },
        { what: '  memory of the managed Chromium then (PSS)', unit: 'MB', ours: memory.browser / 1024 },
      );
    }
    // A connection's limit is fixed when the connection opens.
    using unlimited = await SocketCaller.connect(perch.wsUrl, perch.token);
    return [...figures, ...(await measureLag(perch, unlimited, quick ? 50 : 300))];
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

/** A start with nothing to read. */
async function measureEmptyStart(): Promise<number> {
  const since = performance.now();
  await using perch = await startPerch({ host: 'headless' });
  using caller = await SocketCaller.connect(perch.wsUrl, perch.token);
  await caller.call('health', {});
  return performance.now() - since;
}

/** Time from the acknowledgement on one host until it is stored on the other, both observed from here. */
async function measureLag(perch: Perch, caller: SocketCaller, count: number): Promise<Figure[]> {
  await using browsers = new AsyncDisposableStack();
  const host = async (): Promise<{ host: BenchHost; ms: number }> => {
    const opened = await openWorker(browsers.use(await launchBrowser()), perch);
    return { host: opened, ms: await opened.call('open', 'vault', await linkHost(perch)) };
  };
  const [one, other] = [await host(), await host()];
  const key = 'main/s1';
  const fromManaged: number[] = [];
  const fromBrowser: number[] = [];
  for (let i = 0; i < count; i++) {
    fromManaged.push(
      await computeLag(
        other.host.call('changed', 'vault', key),
        caller.call('sessions.rename', { path: `${key}.jsonl`, title: `Managed ${i}` }),
      ),
    );
    fromBrowser.push(await computeLag(other.host.call('changed', 'vault', key), one.host.call('rename', 'vault', key, `Browser ${i}`)));
  }
  const figure = (what: string, samples: number[]): Figure[] => [
    { what: `${what}, p50`, unit: 'ms', ours: computeMedian(samples), bar: toMaxBar(computeMedian(samples), 200, 'ms') },
    { what: '  p99', unit: 'ms', ours: computePercentile(samples, 0.99) },
  ];
  return [
    { what: '  a browser has them, once its worker runs', unit: 's', ours: other.ms / 1000 },
    ...figure('lag, from the managed Chromium to a browser', fromManaged),
    ...figure('lag, from a browser to another', fromBrowser),
  ];
}

/** Milliseconds between the two, or 0 if the second was earlier. */
async function computeLag(stored: Promise<unknown>, acknowledged: Promise<unknown>): Promise<number> {
  const [last, first] = await Promise.all([stored.then(getMonotonicTime), acknowledged.then(getMonotonicTime)]);
  return Math.max(0, last - first);
}
