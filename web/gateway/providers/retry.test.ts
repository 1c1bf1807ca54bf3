import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import { verifies } from '../../../tests/requirements.ts';
import { systemClock } from '#shared/async/clock.ts';
import { isTransientStatus, getRetryAfter } from './upstream-errors.ts';
import { type ModelEvent, ProviderError } from './provider.ts';
import { retry, retryStream } from './retry.ts';

const createBusyError = (retryAfterMs?: number): ProviderError => new ProviderError('busy', { status: 503, retryable: true, retryAfterMs });
const textEvent = (said: string): ModelEvent => ({ type: 'text', text: said });
const signal = new AbortController().signal;

/** Start functions that throw in turn; the one after the last error yields 'ok'. */
function createFailingStart(...errors: readonly unknown[]): { start: () => AsyncGenerator<ModelEvent>; tries: () => number } {
  let tries = 0;
  return {
    tries: () => tries,
    async *start() {
      const error = errors[tries++];
      if (error !== undefined) throw error;
      yield textEvent('ok');
    },
  };
}

async function all(source: AsyncIterable<ModelEvent>): Promise<string[]> {
  const out: string[] = [];
  for await (const each of source) out.push(each.type === 'text' ? each.text : each.type);
  return out;
}

describe('tries', () => {
  verifies('chat/tries', 'three in all, with waits that grow and are chance within their limit', async () => {
    const clock = new FakeClock();
    const { start, tries } = createFailingStart(createBusyError(), createBusyError());
    const result = all(retryStream(start, { clock, signal, random: () => 0.5 }));
    await clock.waitForTimer(300);
    expect(tries()).toBe(1);
    clock.advance(300);
    await clock.waitForTimer(900);
    expect(tries()).toBe(2);
    clock.advance(900);
    expect(await result).toEqual(['ok']);
    const fourth = createFailingStart(createBusyError(), createBusyError(), createBusyError(), createBusyError());
    await expect(all(retryStream(fourth.start, { clock: systemClock, signal, random: () => 0 }))).rejects.toThrow('busy');
    expect(fourth.tries()).toBe(3);
  });

  verifies('chat/tries', 'as long as the provider asks, but not over a minute: that is told', async () => {
    const clock = new FakeClock();
    const patient = createFailingStart(createBusyError(60_000));
    const result = all(retryStream(patient.start, { clock, signal, random: () => 0 }));
    await clock.waitForTimer(60_000);
    clock.advance(60_000);
    expect(await result).toEqual(['ok']);
    const long = createFailingStart(createBusyError(60_001));
    await expect(all(retryStream(long.start, { clock, signal }))).rejects.toMatchObject({ retryAfterMs: 60_001 });
    expect(long.tries()).toBe(1);
    expect(clock.pending()).toBe(0);
  });

  verifies('chat/tries', 'never again once something has come', async () => {
    let tries = 0;
    const got: ModelEvent[] = [];
    const start = async function* (): AsyncGenerator<ModelEvent> {
      tries++;
      yield textEvent('some');
      throw createBusyError();
    };
    await expect(async () => {
      for await (const each of retryStream(start, { clock: systemClock, signal, random: () => 0 })) got.push(each);
    }).rejects.toThrow('busy');
    expect([tries, got]).toEqual([1, [textEvent('some')]]);
  });

  verifies('chat/tries', 'again where only a call was begun', async () => {
    let tries = 0;
    const start = async function* (): AsyncGenerator<ModelEvent> {
      yield { type: 'calling', tools: ['look'] };
      if (++tries === 1) throw createBusyError();
      yield textEvent('ok');
    };
    expect(await all(retryStream(start, { clock: systemClock, signal, random: () => 0 }))).toEqual(['calling', 'calling', 'ok']);
  });

  it('are over at once for what does not pass', async () => {
    for (const error of [
      new ProviderError('no', { status: 400 }),
      new ProviderError('silent', { retryable: true, silent: true }),
      new TypeError('ours'),
    ]) {
      const { start, tries } = createFailingStart(error);
      await expect(all(retryStream(start, { clock: systemClock, signal, random: () => 0 }))).rejects.toBe(error);
      expect(tries()).toBe(1);
    }
  });

  it('end at once by the signal, in the middle of a wait', async () => {
    const clock = new FakeClock();
    const abort = new AbortController();
    const { start, tries } = createFailingStart(createBusyError(5000));
    const result = all(retryStream(start, { clock, signal: abort.signal }));
    await clock.waitForTimer(5000);
    abort.abort(new Error('stop'));
    await expect(result).rejects.toThrow('stop');
    expect([tries(), clock.pending()]).toEqual([1, 0]);
  });

  it('work for promises too', async () => {
    let tries = 0;
    const work = (): Promise<string> => (++tries < 3 ? Promise.reject(createBusyError()) : Promise.resolve('ok'));
    expect(await retry(work, { clock: systemClock, signal, random: () => 0 })).toBe('ok');
    expect(tries).toBe(3);
  });
});

it('statuses that may pass', () => {
  expect([408, 409, 425, 429, 500, 502, 503, 504, 524, 529].every(isTransientStatus)).toBe(true);
  expect([400, 401, 402, 403, 404, 413, 422, 501, 505].some(isTransientStatus)).toBe(false);
});

it.each([
  [{ 'retry-after': '2' }, 2000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': 'Fri, 20 Nov 2026 12:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Fri, 20 Nov 2026 11:00:00 GMT' }, 0],
  [{ 'retry-after-ms': '1234.5', 'retry-after': '9' }, 1235],
  [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9000],
  [{ 'retry-after-ms': 'Infinity', 'retry-after': '9' }, 9000],
  [{ 'retry-after-ms': '1e999' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '-1' }, undefined],
  [{}, undefined],
])('the wait that %o asks for is %s ms', (headers, ms) => {
  expect(getRetryAfter(new Headers(headers as Record<string, string>), Date.UTC(2026, 10, 20, 12))).toBe(ms);
});
