import { launchBrowser } from '../../e2e/browser.ts';
import { startPerch } from '../../e2e/harness.ts';
import { atLeast, atMost, type Figure } from '../figures.ts';
import { inTurns, median, percentile, ratioOf } from '../stats.ts';
import { type BenchHost, linkHost, openWorker } from './host.ts';

const CALLERS = 64;

/** In one worker, by turns: the vault with the journal, without it, and without its change log. */
export async function writes({ quick }: { quick: boolean }): Promise<Figure[]> {
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
  const ways: Record<'synced' | 'alone' | 'unlogged', BenchHost> = { synced: host, alone: host, unlogged: bare };
  const ask = async <T>(work: (on: BenchHost, name: string) => Promise<T>, times: number): Promise<Record<keyof typeof ways, T[]>> =>
    inTurns(times, {
      synced: () => work(ways.synced, 'synced'),
      alone: () => work(ways.alone, 'alone'),
      unlogged: () => work(ways.unlogged, 'unlogged'),
    });
  await ask((on, name) => on.call('sequential', name, 200), 1);

  const one = await ask((on, name) => on.call('sequential', name, count), rounds);
  const many = await ask((on, name) => on.call('rate', name, burst, CALLERS), quick ? 2 : 5);
  const byLog = ratioOf(one.alone.map(median), one.unlogged.map(median));
  const byJournal = ratioOf(one.synced.map(median), one.alone.map(median));
  const p99 = (samples: number[][]): number => percentile(samples.flat(), 0.99);
  const rate = median(many.synced);
  return [
    {
      ...{ what: 'an acknowledged message with the journal, p50', unit: 'ms', ours: median(one.synced.flat()) },
      floor: { name: 'without', value: median(one.alone.flat()) },
      ratio: byJournal,
      bar: atMost(byJournal, 1.5, '×'),
    },
    { what: '  p99', unit: 'ms', ours: p99(one.synced), floor: { name: 'without', value: p99(one.alone) } },
    {
      ...{ what: '  with the change log alone, p50', unit: 'ms', ours: median(one.alone.flat()) },
      floor: { name: 'without', value: median(one.unlogged.flat()) },
      ratio: byLog,
      bar: atMost(byLog, 1.5, '×'),
    },
    {
      ...{ what: 'acknowledged messages, 64 callers', unit: '/s', ours: rate },
      floor: { name: 'no journal', value: median(many.alone) },
      ratio: ratioOf(many.synced, many.alone),
      bar: atLeast(rate, 500, '/s'),
    },
    {
      ...{ what: '  with the change log alone', unit: '/s', ours: median(many.alone) },
      floor: { name: 'without', value: median(many.unlogged) },
      ratio: ratioOf(many.alone, many.unlogged),
    },
  ];
}
