import { expect, test } from 'vitest';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { waitFor } from '../../../../tests/support/test-gateway.ts';
import { verifies } from '../../../../tests/requirements.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { LogRecord } from '../../storage/records/log-record.ts';
import { Log } from './log.ts';

/** An in-memory store that counts writes and can be set to fail. */
function memoryStore() {
  const stored: LogRecord[] = [];
  const store = {
    stored,
    groups: 0,
    failing: false,
    append: async (lines: readonly LogRecord[]) => {
      if (store.failing) throw new Error('there is no room');
      store.groups++;
      stored.push(...lines);
    },
    range: async () => [],
    span: async () => (stored.length === 0 ? null : { first: stored[0]?.seq ?? 0, last: stored.at(-1)?.seq ?? 0 }),
  } satisfies Vault['logs'] & Record<string, unknown>;
  return store;
}

function testLog(level: 'debug' | 'info' = 'info') {
  const clock = new FakeClock();
  const store = memoryStore();
  return { clock, store, log: new Log({ clock, store, level: () => level }) };
}

verifies('logs/grouped', 'what comes within 50 ms is stored together, numbered in its order', async () => {
  const { clock, store, log } = testLog();
  for (let at = 0; at < 40; at++) log.write('info', 'test', `line ${at}`);
  clock.advance(49);
  expect(store.groups).toBe(0);
  clock.advance(1);
  await waitFor(() => store.stored.length === 40);
  expect(store.groups).toBe(1);
  log.write('info', 'test', 'later');
  clock.advance(50);
  await waitFor(() => store.stored.length === 41);
  expect(store.stored.map(({ seq }) => seq)).toEqual(Array.from({ length: 41 }, (_, at) => at + 1));
  expect(clock.pending()).toBe(0);
});

verifies('logs/level', 'drops lines below the level', async () => {
  for (const [level, count] of [
    ['debug', 4],
    ['info', 3],
  ] as const) {
    const { store, log } = testLog(level);
    for (const each of ['debug', 'info', 'warn', 'error'] as const) log.write(each, 'test', each);
    await log.flush();
    expect(store.stored).toHaveLength(count);
  }
});

verifies(
  'logs/harmless',
  'while nothing can be stored, the newest lines are kept here, with their numbers, and stored when there is room',
  async () => {
    const { store, log } = testLog();
    log.write('info', 'test', 'before');
    await log.flush();
    store.failing = true;
    for (let at = 0; at < 1_100; at++) {
      log.write('info', 'test', `line ${at}`);
      if (at % 100 === 99) await log.flush();
    }
    expect(log.problem).toBe('there is no room');
    expect(log.unstored).toHaveLength(1_000);
    expect(log.unstored.at(-1)).toMatchObject({ seq: 1_101, message: 'line 1099' });
    store.failing = false;
    log.write('info', 'test', 'after');
    await log.flush();
    expect(log.problem).toBeNull();
    expect(log.unstored).toEqual([]);
    expect(store.stored.at(-1)).toMatchObject({ seq: 1_102, message: 'after' });
    expect(store.stored).toHaveLength(1_001);
  },
);

verifies('logs/harmless', 'a value that cannot be read costs its own line alone', async () => {
  const { store, log } = testLog();
  const trap = Object.defineProperty({}, 'x', {
    enumerable: true,
    get: () => {
      throw new Error('no');
    },
  });
  log.write('info', 'test', 'first');
  log.write('warn', 'test', 'second', { trap });
  log.write('info', 'test', 'third');
  await log.flush();
  expect(store.stored.map(({ message }) => message)).toEqual(['first', 'An event could not be recorded', 'third']);
});

test('numbers go on from what is stored', async () => {
  const { store, log } = testLog();
  store.stored.push({ seq: 41, at: 1, level: 'info', component: 'test', message: 'of an earlier life' });
  log.write('info', 'test', 'next');
  await log.flush();
  expect(store.stored.at(-1)).toMatchObject({ seq: 42 });
});
