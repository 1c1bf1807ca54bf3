import { loadavg } from 'node:os';
import type { Page } from 'playwright';
import type { BenchPage, Motion, ContestantName } from './canvas/canvas-page.ts';
import { openBenchSite, measureBundleSizes } from './canvas/bench-site.ts';
import { measureFrameTimes } from './canvas/frame-trace.ts';
import { toMaxBar, type Figure } from './figures.ts';
import { measureInTurns, computeMedian, computePercentile, computeMedianRatio } from './stats.ts';

const SHAPE_COUNT = 5000;
/** A frame of plain Fabric takes a second on a busy machine, so fewer frames are measured. */
const PLAIN_SHARE = 8;
const UNDO_COUNT = 1000;
/** Number of pen moves: with fewer, plain Fabric shows none before the pen is lifted. */
const PEN_MOVES = 120;

type PageCalls = { [M in keyof BenchPage]: (...args: Parameters<BenchPage[M]>) => Promise<Awaited<ReturnType<BenchPage[M]>>> };

/** The page's functions, callable from Node. */
function toPageCalls(page: Page): PageCalls {
  const call =
    (method: string) =>
    (...args: unknown[]): Promise<unknown> =>
      page.evaluate(
        ([name, args]) => (Reflect.get(globalThis, 'bench') as Record<string, (...all: unknown[]) => unknown>)[name]?.(...args),
        [method, args] as const,
      );
  return new Proxy({} as PageCalls, { get: (_, method: string) => call(method) });
}

/** Drawing with 5,000 shapes, compared with plain Fabric.js objects of the same kinds. */
export async function benchCanvas({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rounds = quick ? 1 : 3;
  const frames = quick ? 40 : 120;
  await using site = await openBenchSite();
  const { page } = site;
  const cdp = await site.browser.devtools();
  const bench = toPageCalls(page);
  const both = <T>(measure: (name: ContestantName) => Promise<T>): Promise<Record<ContestantName, T[]>> =>
    measureInTurns(rounds, { ours: () => measure('ours'), plain: () => measure('plain') });

  const framesFor = (name: ContestantName): number => (name === 'ours' ? frames : Math.ceil(frames / PLAIN_SHARE));
  const moved = (motion: Motion) =>
    both(async (name) => {
      await bench.show(name, SHAPE_COUNT);
      const some = framesFor(name);
      if (motion === 'undo') await bench.steps(some);
      return measureFrameTimes(cdp, () => bench.move(motion, some));
    });
  const pan = await moved('pan');
  const zoom = await moved('zoom');
  const stroke = async (moves: number): Promise<void> => {
    await page.mouse.move(100, 100);
    await page.mouse.down();
    for (let nth = 1; nth <= moves; nth++) await page.mouse.move(100 + (1600 * nth) / moves, 500 + 380 * Math.sin(nth / 6));
    await page.mouse.up();
  };
  const drawn = await both(async (name) => {
    await bench.show(name, SHAPE_COUNT);
    return measureFrameTimes(cdp, () => Promise.all([bench.untilLifted(), stroke(framesFor(name))]));
  });
  const frameCounts = await both(async (name) => {
    await bench.show(name, SHAPE_COUNT);
    const [waited] = await Promise.all([bench.watchPen(), stroke(PEN_MOVES)]);
    return waited;
  });
  const steps = quick ? UNDO_COUNT / 10 : UNDO_COUNT;
  const undone = await both(async (name) => {
    await bench.show(name, SHAPE_COUNT);
    await bench.steps(steps);
    return bench.undo(steps);
  });
  const undoneFrames = await moved('undo');
  const png = await both(async (name) => {
    await bench.show(name, SHAPE_COUNT);
    await bench.png();
    return bench.png();
  });
  const { ours, full } = await measureBundleSizes();
  console.error(
    `canvas: load ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}`,
  );
  return [
    ...toFrameFigures(`${SHAPE_COUNT.toLocaleString('en')} shapes, pan, main thread per frame`, pan),
    ...toFrameFigures('  zoom', zoom),
    ...toFrameFigures('  draw', drawn),
    ...toFrameFigures('  undo', undoneFrames),
    toLatencyFigures(frameCounts.ours.flat(), frameCounts.plain.flat()),
    {
      what: 'PNG of 1920 × 1080',
      unit: 'ms',
      ours: computeMedian(png.ours),
      floor: { name: 'fabric', value: computeMedian(png.plain) },
      ratio: computeMedianRatio(png.ours, png.plain),
      bar: toMaxBar(computeMedian(png.ours), 200, 'ms'),
    },
    {
      what: `undo of ${steps.toLocaleString('en')} steps, each, p95`,
      unit: 'ms',
      ours: computePercentile(undone.ours.flat(), 0.95),
      floor: { name: 'fabric', value: computePercentile(undone.plain.flat(), 0.95) },
      bar: toMaxBar(computePercentile(undone.ours.flat(), 0.95), 5, 'ms'),
    },
    {
      what: '  the longest',
      unit: 'ms',
      ours: Math.max(...undone.ours.flat()),
      floor: { name: 'fabric', value: Math.max(...undone.plain.flat()) },
    },
    { what: 'perch/ui over the wire beside Fabric, brotli', unit: 'KB', ours: ours.brotli, bar: toMaxBar(ours.brotli, 150, 'KB') },
    { what: '  gzip', unit: 'KB', ours: ours.gzip },
    { what: '  with what it uses of Fabric, brotli', unit: 'KB', ours: full.brotli },
  ];
}

function toFrameFigures(what: string, { ours, plain }: Record<ContestantName, number[][]>): Figure[] {
  const p95 = (rounds: number[][]): number[] => rounds.map((round) => computePercentile(round, 0.95));
  return [
    {
      what: `${what}, p95`,
      unit: 'ms',
      ours: computeMedian(p95(ours)),
      floor: { name: 'fabric', value: computeMedian(p95(plain)) },
      ratio: computeMedianRatio(p95(ours), p95(plain)),
      bar: toMaxBar(computeMedian(p95(ours)), 12, 'ms'),
    },
    { what: '    p50', unit: 'ms', ours: computeMedian(ours.flat()), floor: { name: 'fabric', value: computeMedian(plain.flat()) } },
    { what: '    the longest', unit: 'ms', ours: Math.max(...ours.flat()), floor: { name: 'fabric', value: Math.max(...plain.flat()) } },
  ];
}

function toLatencyFigures(ours: readonly number[], plain: readonly number[]): Figure {
  return {
    what: 'pen to ink, p95',
    unit: 'frames',
    ours: computePercentile(ours, 0.95),
    floor: { name: 'fabric', value: computePercentile(plain, 0.95) },
    bar: toMaxBar(computePercentile(ours, 0.95), 1, 'frame'),
  };
}
