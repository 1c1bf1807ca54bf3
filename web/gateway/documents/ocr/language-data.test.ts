import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { toLanguageDataUrl, loadLanguageData } from './language-data.ts';

const open = new AbortController().signal;
const BASE = 'https://data.test/4.0';

/** An in-memory `CacheStorage`. */
function fakeCaches(): Pick<CacheStorage, 'open'> {
  const entries = new Map<string, Uint8Array<ArrayBuffer>>();
  return {
    open: async () =>
      ({
        match: async (url: string) => (entries.has(url) ? new Response(entries.get(url)) : undefined),
        put: async (url: string, response: Response) => void entries.set(url, new Uint8Array(await response.arrayBuffer())),
      }) as unknown as Cache,
  };
}

const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text));

test('an address is a pattern or a folder', () => {
  expect(toLanguageDataUrl(`${BASE}/{language}/{language}.gz`, 'deu')).toBe(`${BASE}/deu/deu.gz`);
  expect(toLanguageDataUrl(`${BASE}/`, 'deu')).toBe(`${BASE}/deu.traineddata`);
});

test('data are downloaded once, unpacked, and read without a network afterwards', async () => {
  const caches = fakeCaches();
  const asked: string[] = [];
  const received: number[] = [];
  const packed = new Uint8Array(gzipSync('model'));
  const options = { caches, onprogress: (progress: { received: number }): void => void received.push(progress.received) };
  const first = await loadLanguageData(
    BASE,
    'eng',
    { ...options, fetch: async (url) => (asked.push(String(url)), new Response(packed)) },
    open,
  );
  const offline = { ...options, fetch: () => Promise.reject(new TypeError('Failed to fetch')) };
  expect([first, await loadLanguageData(BASE, 'eng', offline, open)]).toEqual([bytes('model'), bytes('model')]);
  expect(asked).toEqual([`${BASE}/eng.traineddata`]);
  expect(received.at(-1)).toBe(packed.length);
  await expect(loadLanguageData(BASE, 'deu', offline, open)).rejects.toThrow(
    'Language data “deu” for reading scans couldn’t be downloaded from data.test: Failed to fetch',
  );
});
