import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Check intervals: soon after the start, which leaves most garbage, then doubling up to once a minute. */
const FIRST_MS = 5_000;
const EVERY_MS = 60_000;
/** Share of time that the event loop was active since the last check. Below it the process counts as idle. */
const IDLE = 0.05;
/** Bytes of heap that are allocated but unused. */
const SLACK = 8 * 1024 * 1024;

/** Returns memory to the system while idle: V8 collects garbage only on allocation. Returns a function that stops it. */
export function staySlim(): () => void {
  let last = performance.eventLoopUtilization();
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    const { heapTotal, heapUsed } = process.memoryUsage();
    if (utilization < IDLE && heapTotal - heapUsed > SLACK) collect();
  };
  let timer: NodeJS.Timeout;
  const wait = (ms: number): void => {
    timer = setTimeout(() => {
      look();
      wait(Math.min(2 * ms, EVERY_MS));
    }, ms).unref();
  };
  wait(FIRST_MS);
  return () => clearTimeout(timer);
}

/** The inspector's `collectGarbage` is not used: it has hung the process. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
