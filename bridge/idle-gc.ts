import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Check intervals: soon after the start, which leaves most garbage, then doubling up to once a minute. */
const INITIAL_CHECK_MS = 5_000;
const MAX_CHECK_MS = 60_000;
/** Share of time that the event loop was active since the last check. Below it the process counts as idle. */
const IDLE_SHARE = 0.05;
/** Bytes of heap that are allocated but unused. */
const SLACK_BYTES = 8 * 1024 * 1024;

/** Returns memory to the system while idle: V8 collects garbage only on allocation. Returns a function that stops it. */
export function startIdleGc(): () => void {
  let last = performance.eventLoopUtilization();
  const collectIfIdle = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    const { heapTotal, heapUsed } = process.memoryUsage();
    if (utilization < IDLE_SHARE && heapTotal - heapUsed > SLACK_BYTES) collectGarbage();
  };
  let timer: NodeJS.Timeout;
  const wait = (ms: number): void => {
    timer = setTimeout(() => {
      collectIfIdle();
      wait(Math.min(2 * ms, MAX_CHECK_MS));
    }, ms).unref();
  };
  wait(INITIAL_CHECK_MS);
  return () => clearTimeout(timer);
}

/** The inspector's `collectGarbage` is not used: it has hung the process. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
