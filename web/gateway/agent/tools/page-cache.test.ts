import { expect, it } from 'vitest';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { type FetchedPage, PageCache } from './page-cache.ts';

const toPage = (body: string, headers: Partial<FetchedPage> = {}): FetchedPage => ({
  ...{ url: 'https://a.test/', status: 200, contentType: 'text/html', body },
  ...headers,
});

function setUp() {
  const clock = new FakeClock();
  const cache = new PageCache(clock);
  const loads: unknown[] = [];
  return {
    ...{ clock, loads },
    get: async (key: string, answer: FetchedPage, isReload = false): Promise<string> =>
      (
        await cache.get(
          key,
          async (known) => {
            loads.push(known ?? null);
            return answer;
          },
          isReload,
        )
      ).body,
  };
}

it('gives a page again while it is fresh, and asks the server then', async () => {
  const { get, clock, loads } = setUp();
  expect(await get('a', toPage('1', { cacheControl: 'public, max-age=60' }))).toBe('1');
  clock.advance(59_000);
  expect(await get('a', toPage('2'))).toBe('1');
  clock.advance(2000);
  expect(await get('a', toPage('3'))).toBe('3');
  // Without a header: five minutes.
  clock.advance(299_000);
  expect(await get('a', toPage('4'))).toBe('3');
  expect(await get('a', toPage('5'), true)).toBe('5');
  expect(loads).toEqual([null, null, null]);
});

it('validates a copy that is no longer fresh', async () => {
  const { get, clock, loads } = setUp();
  await get('a', toPage('1', { cacheControl: 'no-cache', etag: '"e"', lastModified: 'Mon' }));
  expect(await get('a', toPage('', { status: 304, cacheControl: 'max-age=10' }))).toBe('1');
  clock.advance(9000);
  expect(await get('a', toPage('2'))).toBe('1');
  expect(loads).toEqual([null, { etag: '"e"', lastModified: 'Mon' }]);
});

it('keeps nothing that the server forbids, and no more than fits', async () => {
  const { get, loads } = setUp();
  for (let count = 0; count < 2; count++) await get('secret', toPage('1', { cacheControl: 'no-store' }));
  expect(loads).toHaveLength(2);
  const large = 'x'.repeat(10 * 1024 * 1024);
  for (const key of ['a', 'b', 'c']) await get(key, toPage(large));
  expect(await get('b', toPage('new'))).toBe(large);
  expect(await get('a', toPage('new'))).toBe('new');
});
