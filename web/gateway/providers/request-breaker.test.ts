import { expect, it } from 'vitest';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import { verifies } from '../../../tests/requirements.ts';
import { RequestBreaker, CircuitOpenError } from './request-breaker.ts';
import { ProviderError } from './provider.ts';

const outage = new ProviderError('down', { status: 503, retryable: true });

function createBreaker(failures = 3) {
  const clock = new FakeClock();
  const made = new RequestBreaker('Server', clock, () => ({ failures, pauseMs: 30_000 }));
  const fail = (error: unknown = outage): void => made.begin().fail(error);
  const isOpen = (): boolean => {
    try {
      made.begin().fail(new Error('only looked'));
      return false;
    } catch (error) {
      return error instanceof CircuitOpenError;
    }
  };
  return { clock, made, fail, isOpen };
}

verifies('providers/breaker', 'opens after so many failures in a row, and tells for how long', () => {
  const { clock, made, fail, isOpen } = createBreaker();
  fail();
  fail(new ProviderError('unreachable', { retryable: true }));
  made.begin().succeed();
  fail();
  fail(new ProviderError('silent', { retryable: true, silent: true }));
  expect(isOpen()).toBe(false);
  fail();
  expect(() => made.begin()).toThrow('Server failed several times in a row. Try again in 30 s.');
  clock.advance(29_500);
  expect(() => made.begin()).toThrow(expect.objectContaining({ retryAfterMs: 1000, retryable: true, silent: true }));
  clock.advance(500);
  expect(isOpen()).toBe(false);
});

verifies('providers/breaker', 'one request tries it then, and what comes of it holds for all', () => {
  const { clock, made, fail, isOpen } = createBreaker();
  for (let count = 0; count < 3; count++) fail();
  clock.advance(30_000);
  const first = made.begin();
  expect(isOpen()).toBe(true);
  first.fail(outage);
  clock.advance(29_999);
  expect(isOpen()).toBe(true);
  clock.advance(1);
  // A caller that disconnects proves nothing about the server: the next one tries it.
  made.begin().fail(new DOMException('left', 'AbortError'));
  const last = made.begin();
  expect(isOpen()).toBe(true);
  last.succeed();
  fail();
  fail();
  expect(isOpen()).toBe(false);
});

verifies('providers/breaker', 'refusals are answers: they never open it, and close it', () => {
  const { clock, fail, isOpen } = createBreaker();
  for (const status of [400, 401, 404, 413, 422, 429])
    for (let count = 0; count < 5; count++) fail(new ProviderError('no', { status, retryable: status === 429 }));
  for (const error of [new TypeError('ours'), new ProviderError('is not asked: forbidden')])
    for (let count = 0; count < 5; count++) fail(error);
  expect(isOpen()).toBe(false);
  for (let count = 0; count < 3; count++) fail();
  clock.advance(30_000);
  fail(new ProviderError('no', { status: 429, retryable: true }));
  fail();
  fail();
  expect(isOpen()).toBe(false);
});

it('counts the first word of each request, and can be switched off', () => {
  const { made, isOpen } = createBreaker(2);
  const attempt = made.begin();
  attempt.succeed();
  attempt.fail(outage);
  made.begin().fail(outage);
  expect(isOpen()).toBe(false);
  const off = createBreaker(0);
  for (let count = 0; count < 100; count++) off.fail();
  expect(off.isOpen()).toBe(false);
});
