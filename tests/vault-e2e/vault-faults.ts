import { spawnSync } from 'node:child_process';
import type { Perch } from '../e2e/perch-process.ts';
import type { ChaosMember } from './member.ts';

/** Faults and their relative frequency. */
export const FAULTS = { bridge: 3, worker: 3, browser: 2, managed: 2, stop: 2, freeze: 1, wipe: 1 };
export type Fault = keyof typeof FAULTS;

/** Causes the fault, for `ms` milliseconds if it lasts, and restarts what a person would restart. */
export async function injectFault(fault: Fault, { perch, member, ms }: { perch: Perch; member: ChaosMember; ms: number }): Promise<void> {
  switch (fault) {
    case 'bridge':
      await perch.kill('SIGKILL');
      // Meanwhile the browsers write without a bridge.
      await sleep(ms);
      return perch.restart();
    case 'worker':
      return void (await member.browser.killSharedWorkers(perch.url));
    case 'browser':
      await member.kill();
      return member.reopen();
    case 'managed':
      // A process that was found may have exited, which is as good.
      spawnSync('pkill', ['-KILL', '-P', String(perch.pid)]);
      return;
    case 'stop':
      member.signal('SIGSTOP');
      await sleep(2 * ms);
      return member.signal('SIGCONT');
    case 'freeze': {
      const cdp = await member.browser.context.newCDPSession(member.page);
      await cdp.send('Page.setWebLifecycleState', { state: 'frozen' });
      await sleep(ms);
      await cdp.send('Page.setWebLifecycleState', { state: 'active' });
      return cdp.detach();
    }
    case 'wipe':
      await member.wipe();
      return member.relink();
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The result, or undefined if it is late. */
export async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(late.resolve, ms, undefined);
  const result = await Promise.race([work, late.promise]);
  clearTimeout(timer);
  return result;
}
