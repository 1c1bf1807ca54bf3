import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How often it is looked: soon after the start, which leaves most garbage, then half as often each time, up to once a minute. */
const FIRST_MS = 5_000;
const EVERY_MS = 60_000;
/** Share of the time since the last look that the thread has worked: with less it is idle. */
const IDLE = 0.05;
/** Bytes that the heap has beyond what is used. */
const SLACK = 8 * 1024 * 1024;

/** Gives memory back to the system while nothing happens: V8 collects garbage when memory is wanted, and an idle process wants none. The result stops it. */
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

/** Not by the inspector's `collectGarbage`, by which the process has been seen to stand still for good. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
