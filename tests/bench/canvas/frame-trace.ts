import type { CDPSession } from 'playwright';

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  tdur?: number;
}

/** Measures the page's main-thread time in each frame between the marks `bench-frame` and `bench-end`, in milliseconds. */
export async function measureFrameTimes(cdp: CDPSession, run: () => Promise<unknown>): Promise<number[]> {
  const events: TraceEvent[] = [];
  const collect = ({ value }: { value: object[] }): void => void events.push(...(value as TraceEvent[]));
  cdp.on('Tracing.dataCollected', collect);
  await cdp.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: {
      includedCategories: ['disabled-by-default-devtools.timeline', 'blink.user_timing', 'toplevel'],
      recordMode: 'recordAsMuchAsPossible',
    },
  });
  try {
    await run();
  } finally {
    const complete = new Promise((resolve) => cdp.once('Tracing.tracingComplete', resolve));
    await cdp.send('Tracing.end');
    await complete;
    cdp.off('Tracing.dataCollected', collect);
  }
  return toFrameTimes(events);
}

function toFrameTimes(events: readonly TraceEvent[]): number[] {
  const marks = events.filter(({ name }) => name === 'bench-frame' || name === 'bench-end').sort((a, b) => a.ts - b.ts);
  const [first] = marks;
  if (!first) throw new Error('the trace has no frames');
  const tasks = events.filter(({ name, ph, pid, tid }) => name === 'RunTask' && ph === 'X' && pid === first.pid && tid === first.tid);
  const began = marks.map(({ ts }) => tasks.find((task) => task.ts <= ts && ts <= task.ts + (task.dur ?? 0))?.ts ?? ts);
  return began.slice(0, -1).map((from, nth) => {
    const to = began[nth + 1] ?? Infinity;
    return tasks.filter(({ ts }) => ts >= from && ts < to).reduce((sum, { dur = 0, tdur = dur }) => sum + tdur, 0) / 1000;
  });
}
