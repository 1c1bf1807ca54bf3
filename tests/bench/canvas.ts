import { loadavg } from 'node:os';
import type { Page } from 'playwright';
import type { BenchPage, Motion, Name } from './canvas/page.ts';
import { benchSite, weights } from './canvas/site.ts';
import { framesOf } from './canvas/trace.ts';
import { atMost, type Figure } from './figures.ts';
import { inTurns, median, percentile, ratioOf } from './stats.ts';

const SHAPES = 5000;
/** A frame of plain Fabric takes a second on a busy machine: fewer of them. */
const PLAIN_SHARE = 8;
const UNDONE = 1000;
/** Moves of a pen: with fewer, plain Fabric shows none of them before it is lifted. */
const MOVES = 120;

type Calls = { [M in keyof BenchPage]: (...args: Parameters<BenchPage[M]>) => Promise<Awaited<ReturnType<BenchPage[M]>>> };

/** Functions of the page, callable from here. */
function callsOf(page: Page): Calls {
  const call =
    (method: string) =>
    (...args: unknown[]): Promise<unknown> =>
      page.evaluate(
        ([name, given]) => (Reflect.get(globalThis, 'bench') as Record<string, (...all: unknown[]) => unknown>)[name]?.(...given),
        [method, args] as const,
      );
  return new Proxy({} as Calls, { get: (_, method: string) => call(method) });
}

/** Drawing with 5,000 shapes, compared with plain Fabric.js objects of the same kinds. */
export async function canvas({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rounds = quick ? 1 : 3;
  const frames = quick ? 40 : 120;
  await using site = await benchSite();
  const { page } = site;
  const cdp = await site.browser.devtools();
  const bench = callsOf(page);
  const both = <T>(measure: (name: Name) => Promise<T>): Promise<Record<Name, T[]>> =>
    inTurns(rounds, { ours: () => measure('ours'), plain: () => measure('plain') });

  const framesFor = (name: Name): number => (name === 'ours' ? frames : Math.ceil(frames / PLAIN_SHARE));
  const moved = (motion: Motion) =>
    both(async (name) => {
      await bench.show(name, SHAPES);
      const some = framesFor(name);
      if (motion === 'undo') await bench.steps(some);
      return framesOf(cdp, () => bench.move(motion, some));
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
    await bench.show(name, SHAPES);
    return framesOf(cdp, () => Promise.all([bench.untilLifted(), stroke(framesFor(name))]));
  });
  const waits = await both(async (name) => {
    await bench.show(name, SHAPES);
    const [waited] = await Promise.all([bench.watchPen(), stroke(MOVES)]);
    return waited;
  });
  const steps = quick ? UNDONE / 10 : UNDONE;
  const undone = await both(async (name) => {
    await bench.show(name, SHAPES);
    await bench.steps(steps);
    return bench.undo(steps);
  });
  const undoneFrames = await moved('undo');
  const png = await both(async (name) => {
    await bench.show(name, SHAPES);
    await bench.png();
    return bench.png();
  });
  const { ours, whole } = await weights();
  console.error(
    `canvas: load ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}`,
  );
  return [
    ...perFrame(`${SHAPES.toLocaleString('en')} shapes, pan, main thread per frame`, pan),
    ...perFrame('  zoom', zoom),
    ...perFrame('  draw', drawn),
    ...perFrame('  undo', undoneFrames),
    latency(waits.ours.flat(), waits.plain.flat()),
    {
      what: 'PNG of 1920 × 1080',
      unit: 'ms',
      ours: median(png.ours),
      floor: { name: 'fabric', value: median(png.plain) },
      ratio: ratioOf(png.ours, png.plain),
      bar: atMost(median(png.ours), 200, 'ms'),
    },
    {
      what: `undo of ${steps.toLocaleString('en')} steps, each, p95`,
      unit: 'ms',
      ours: percentile(undone.ours.flat(), 0.95),
      floor: { name: 'fabric', value: percentile(undone.plain.flat(), 0.95) },
      bar: atMost(percentile(undone.ours.flat(), 0.95), 5, 'ms'),
    },
    {
      what: '  the longest',
      unit: 'ms',
      ours: Math.max(...undone.ours.flat()),
      floor: { name: 'fabric', value: Math.max(...undone.plain.flat()) },
    },
    { what: 'perch/ui over the wire beside Fabric, brotli', unit: 'KB', ours: ours.brotli, bar: atMost(ours.brotli, 150, 'KB') },
    { what: '  gzip', unit: 'KB', ours: ours.gzip },
    { what: '  with what it uses of Fabric, brotli', unit: 'KB', ours: whole.brotli },
  ];
}

function perFrame(what: string, { ours, plain }: Record<Name, number[][]>): Figure[] {
  const p95 = (rounds: number[][]): number[] => rounds.map((round) => percentile(round, 0.95));
  return [
    {
      what: `${what}, p95`,
      unit: 'ms',
      ours: median(p95(ours)),
      floor: { name: 'fabric', value: median(p95(plain)) },
      ratio: ratioOf(p95(ours), p95(plain)),
      bar: atMost(median(p95(ours)), 12, 'ms'),
    },
    { what: '    p50', unit: 'ms', ours: median(ours.flat()), floor: { name: 'fabric', value: median(plain.flat()) } },
    { what: '    the longest', unit: 'ms', ours: Math.max(...ours.flat()), floor: { name: 'fabric', value: Math.max(...plain.flat()) } },
  ];
}

function latency(ours: readonly number[], plain: readonly number[]): Figure {
  return {
    what: 'pen to ink, p95',
    unit: 'frames',
    ours: percentile(ours, 0.95),
    floor: { name: 'fabric', value: percentile(plain, 0.95) },
    bar: atMost(percentile(ours, 0.95), 1, 'frame'),
  };
}
