/** Returns the value below which a share (0 to 1) of the samples lies. */
export function computePercentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new RangeError('there are no samples');
  return value;
}

export const computeMedian = (samples: readonly number[]): number => computePercentile(samples, 0.5);

/** Measures the milliseconds of each of `count` sequential calls. */
export async function measureSequential(count: number, call: () => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await call();
    samples.push(performance.now() - start);
  }
  return samples;
}

export interface LoadResult {
  /** Calls in a second. */
  rate: number;
  /** Milliseconds of each call. */
  samples: number[];
}

/** Runs `calls.length` concurrent callers, each sending its next call once the last is answered, `count` calls in total. */
export async function measureConcurrent(count: number, calls: readonly (() => Promise<unknown>)[]): Promise<LoadResult> {
  const samples: number[] = [];
  let remaining = count;
  const start = performance.now();
  await Promise.all(
    calls.map(async (call) => {
      while (remaining-- > 0) {
        const startedAt = performance.now();
        await call();
        samples.push(performance.now() - startedAt);
      }
    }),
  );
  return { rate: (count / (performance.now() - start)) * 1000, samples };
}

/**
 * Measures contestants in turns, so that other load on the machine affects all of them; the first one changes from round to round. Resolves
 * with each one's results, one per round.
 */
export async function measureInTurns<T, N extends string>(
  rounds: number,
  contestants: Record<N, () => Promise<T>>,
): Promise<Record<N, T[]>> {
  const names = Object.keys(contestants) as N[];
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<N, T[]>;
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length];
      if (name !== undefined) results[name].push(await contestants[name]());
    }
  }
  return results;
}

/** Returns the median of the rounds' ratios: a disturbance in one round affects both of its figures. */
export const computeMedianRatio = (ours: readonly number[], floor: readonly number[]): number =>
  computeMedian(ours.map((value, round) => value / (floor[round] ?? NaN)));

/** Milliseconds of the machine's monotonic clock, which all processes share. */
export const getMonotonicTime = (): number => Number(process.hrtime.bigint()) / 1e6;
