import { launchBrowser } from '../../e2e/test-browser.ts';
import { startPerch } from '../../e2e/perch-process.ts';
import { toMinBar, toMaxBar, type Figure } from '../figures.ts';
import { measureInTurns, computeMedian, computePercentile, computeMedianRatio } from '../stats.ts';
import { type BenchHost, linkHost, openWorker } from './bench-host.ts';

const CALLER_COUNT = 64;

/** Alternately in one worker: the vault with the journal, without it, and without its change log. */
export async function benchWrites({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rounds = quick ? 4 : 20;
  const count = quick ? 50 : 100;
  const burst = quick ? 1_000 : 3_000;
  await using perch = await startPerch({ host: 'tab' });
  await using browser = await launchBrowser();
  const host = await openWorker(browser, perch);
  const bare = await openWorker(browser, perch, { log: false });
  await host.call('open', 'synced', await linkHost(perch));
  await host.call('open', 'alone');
  await bare.call('open', 'unlogged');
  const hostsByKind: Record<'synced' | 'alone' | 'unlogged', BenchHost> = { synced: host, alone: host, unlogged: bare };
  const measureWrites = async <T>(
    work: (on: BenchHost, name: string) => Promise<T>,
    times: number,
  ): Promise<Record<keyof typeof hostsByKind, T[]>> =>
    measureInTurns(times, {
      synced: () => work(hostsByKind.synced, 'synced'),
      alone: () => work(hostsByKind.alone, 'alone'),
      unlogged: () => work(hostsByKind.unlogged, 'unlogged'),
    });
  await measureWrites((on, name) => on.call('sequential', name, 200), 1);

  const sequential = await measureWrites((on, name) => on.call('sequential', name, count), rounds);
  const concurrent = await measureWrites((on, name) => on.call('rate', name, burst, CALLER_COUNT), quick ? 2 : 5);
  const byLog = computeMedianRatio(sequential.alone.map(computeMedian), sequential.unlogged.map(computeMedian));
  const byJournal = computeMedianRatio(sequential.synced.map(computeMedian), sequential.alone.map(computeMedian));
  const p99 = (samples: number[][]): number => computePercentile(samples.flat(), 0.99);
  const rate = computeMedian(concurrent.synced);
  return [
    {
      ...{ what: 'an acknowledged message with the journal, p50', unit: 'ms', ours: computeMedian(sequential.synced.flat()) },
      floor: { name: 'without', value: computeMedian(sequential.alone.flat()) },
      ratio: byJournal,
      bar: toMaxBar(byJournal, 1.5, '×'),
    },
    { what: '  p99', unit: 'ms', ours: p99(sequential.synced), floor: { name: 'without', value: p99(sequential.alone) } },
    {
      ...{ what: '  with the change log alone, p50', unit: 'ms', ours: computeMedian(sequential.alone.flat()) },
      floor: { name: 'without', value: computeMedian(sequential.unlogged.flat()) },
      ratio: byLog,
      bar: toMaxBar(byLog, 1.5, '×'),
    },
    {
      ...{ what: 'acknowledged messages, 64 callers', unit: '/s', ours: rate },
      floor: { name: 'no journal', value: computeMedian(concurrent.alone) },
      ratio: computeMedianRatio(concurrent.synced, concurrent.alone),
      bar: toMinBar(rate, 500, '/s'),
    },
    {
      ...{ what: '  with the change log alone', unit: '/s', ours: computeMedian(concurrent.alone) },
      floor: { name: 'without', value: computeMedian(concurrent.unlogged) },
      ratio: computeMedianRatio(concurrent.alone, concurrent.unlogged),
    },
  ];
}
