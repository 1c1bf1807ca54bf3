import { IDBFactory } from 'fake-indexeddb';
import type { GatewayClient } from '#shared/client/client.ts';
import type { CronRun } from '#shared/rpc/methods/cron-contracts.ts';
import type { MethodParams } from '#shared/rpc/methods/index.ts';
import { FakeClock } from './fake-clock.ts';
import { type Say, type ModelScript, type TestGateway, createTestGateway } from './test-gateway.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** Lets pending storage and events settle; hashing runs in another thread. */
async function yieldToEvents(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) {
    if (turn % 10 === 0) await crypto.subtle.digest('SHA-256', new Uint8Array(1));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Advances the clock in steps of `stepMs` until the condition holds. */
export async function advanceUntil(clock: FakeClock, condition: () => boolean | Promise<boolean>, stepMs = 1000): Promise<void> {
  for (let steps = 0; !(await condition()); steps++) {
    if (steps > 2000) throw new Error('The condition did not come about, however far the clock went');
    clock.advance(stepMs);
    await yieldToEvents();
  }
}

/** A model that emits a word every half minute for `minutes`, so that it is never idle for long. */
export const createSlowScript = (clock: FakeClock, minutes: number): Say[] =>
  Array.from({ length: minutes * 2 }, (_, index): Say[] => [
    '.',
    { wait: new Promise<void>((resolve) => clock.after((index + 1) * 30_000, resolve)) },
  ]).flat();

export interface CronHost extends TestGateway {
  clock: FakeClock;
  api: GatewayClient;
  add(params?: Partial<MethodParams<'cron.add'>>): Promise<string>;
  /** Runs of all jobs, the oldest first. */
  history(jobId?: string): Promise<CronRun[]>;
  /** Advances the clock. */
  advance(ms: number, stepMs?: number): Promise<void>;
  /** Advances the clock until `count` runs have ended. */
  waitForRuns(count: number): Promise<CronRun[]>;
}

let names = 0;

/** Successive gateways on the same data and clock, like a browser that is closed and reopened. */
export function createCronHosts({ clock = new FakeClock() }: { clock?: FakeClock } = {}) {
  const indexedDB = new IDBFactory();
  const name = `cron-${++names}`;
  let first = true;
  return {
    clock,
    async open(model?: ModelScript): Promise<CronHost> {
      const gw = await createTestGateway({ clock, indexedDB, name, useGuide: !first, ...(model ? { model } : {}) });
      first = false;
      return { ...gw, ...(await createCronApi(gw, clock)) };
    },
  };
}

/** A gateway with the methods that tests of jobs use. */
export async function createCronApi(gw: TestGateway, clock: FakeClock): Promise<Omit<CronHost, keyof TestGateway>> {
  const { client: api } = await gw.client();
  const history = async (jobId?: string): Promise<CronRun[]> =>
    (await api.call('cron.history', { limit: 200, ...(jobId === undefined ? {} : { jobId }) })).records.reverse();
  return {
    clock,
    api,
    history,
    add: async (params = {}) =>
      (await api.call('cron.add', { message: 'Look', ...('schedule' in params ? {} : { cron: '* * * * *' }), ...params })).jobId,
    advance: (ms, stepMs) => {
      const end = clock.now() + ms;
      return advanceUntil(clock, () => clock.now() >= end, stepMs);
    },
    async waitForRuns(count) {
      const found = async () => (await history()).filter(({ status }) => status !== 'running');
      await advanceUntil(clock, async () => (await found()).length >= count);
      return found();
    },
  };
}
