import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { createGgufFile } from '../../../tests/support/gguf-file.ts';
import { type HubFaults, startHubServer } from '../../../tests/support/hub-server.ts';
import { chooseGguf } from './choose-files.ts';
import { downloadFiles, type ModelDownloadOptions, type DownloadProgress } from './download-model.ts';
import { ModelHub } from './model-hub.ts';
import { LocalModels } from './local-models.ts';

const TINY = createGgufFile();
const REPO = 'perch/tiny-GGUF';
const FILES = { 'README.md': new Uint8Array(10), 'tiny-Q4_K_M.gguf': TINY, 'tiny-Q8_0.gguf': createGgufFile({ seed: 2 }) };
const ID = `${REPO}/tiny-Q4_K_M.gguf`;

async function createTestHome(
  faults: HubFaults = {},
  source: 'huggingface' | 'modelscope' = 'huggingface',
  files: Record<string, Uint8Array> = FILES,
) {
  const server = await startHubServer({ [REPO]: files }, faults);
  const home = mkdtempSync(join(tmpdir(), 'perch-hub-'));
  const models = new LocalModels(home);
  const hub = new ModelHub(source, { env: { ...server.env, HF_TOKEN: 'hf_secret' }, silenceMs: 2000 });
  const dir = join(home, 'models', REPO);
  return {
    ...{ server, models, dir },
    get: (more: Partial<ModelDownloadOptions> = {}) =>
      downloadFiles({ hub, models, repo: REPO, signal: new AbortController().signal, memory: 8e9, waitMs: 1, ...more }),
    there: () => (existsSync(dir) ? readdirSync(dir) : []),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

verifies('models/download', 'chosen, whole, listed, deleted', async () => {
  for (const source of ['huggingface', 'modelscope'] as const) {
    await using at = await createTestHome({}, source);
    const updates: DownloadProgress[] = [];
    expect(await at.get({ onprogress: (progress) => updates.push(progress) })).toEqual({ id: ID, sizeBytes: TINY.length, fresh: true });
    expect(new Uint8Array(readFileSync(join(at.dir, 'tiny-Q4_K_M.gguf')))).toEqual(TINY);
    expect(updates.at(0)).toEqual({ file: null, received: 0, total: TINY.length });
    expect(updates.at(-1)).toEqual({ file: 'tiny-Q4_K_M.gguf', received: TINY.length, total: TINY.length });
    // The user's token is only sent to the hub, not to the server that stores its files.
    const tokens = at.server.asked.map(({ token, store }) => [store, token]);
    const token = source === 'huggingface' ? 'Bearer hf_secret' : undefined;
    expect(tokens).toEqual([
      [false, token],
      [false, token],
      [true, undefined],
    ]);
    expect(await at.models.list()).toMatchObject([
      { id: ID, source, name: 'tiny', contextWindow: 2048, sizeBytes: TINY.length, problem: null },
    ]);
    expect(await at.get()).toMatchObject({ fresh: false });
    expect(await at.models.remove(ID)).toBe(TINY.length);
    expect(await at.models.remove(ID)).toBeNull();
    expect(await at.models.remove('../../..')).toBeNull();
    expect(await at.models.list()).toEqual([]);
    expect(existsSync(at.dir)).toBe(false);
  }
});

verifies('models/download', 'a model in several files', async () => {
  const half = TINY.length >> 1;
  const files = { 'q/big-00001-of-00002.gguf': TINY.slice(0, half), 'q/big-00002-of-00002.gguf': TINY.slice(half) };
  await using at = await createTestHome({}, 'huggingface', files);
  expect(await at.get({ filename: 'big-00001-of-00002.gguf' })).toMatchObject({
    id: `${REPO}/big-00001-of-00002.gguf`,
    sizeBytes: TINY.length,
  });
  expect(await at.models.list()).toMatchObject([{ id: `${REPO}/big-00001-of-00002.gguf`, sizeBytes: TINY.length }]);
  rmSync(join(at.dir, 'big-00002-of-00002.gguf'));
  expect((await at.models.list())[0]?.problem).not.toBeNull();
});

verifies('models/resume', 'broken off again and again: it goes on where it stopped', async () => {
  await using at = await createTestHome({ cutAfter: 150_000 });
  await at.get();
  const ranges = at.server.asked.filter(({ store }) => store).map(({ range }) => range);
  expect(ranges.length).toBeGreaterThan(3);
  expect(ranges[0]).toBeUndefined();
  for (const range of ranges.slice(1)) expect(range).toMatch(/^bytes=[1-9]\d*-$/);
  expect(at.there().sort()).toEqual(['tiny-Q4_K_M.gguf', 'tiny-Q4_K_M.gguf.json']);
  expect(new Uint8Array(readFileSync(join(at.dir, 'tiny-Q4_K_M.gguf')))).toEqual(TINY);
});

verifies('models/resume', 'left off, and gone on with later; also where the hub begins anew', async () => {
  for (const ignoresRange of [false, true]) {
    await using at = await createTestHome();
    const aborter = new AbortController();
    const onprogress = ({ received }: DownloadProgress): void => void (received > 0 && aborter.abort(new Error('left')));
    await expect(at.get({ signal: aborter.signal, onprogress })).rejects.toThrow('left');
    expect(at.there()).toContain('tiny-Q4_K_M.gguf.part');
    expect(await at.models.list()).toEqual([]);
    at.server.faults.ignoresRange = ignoresRange;
    await at.get();
    expect(new Uint8Array(readFileSync(join(at.dir, 'tiny-Q4_K_M.gguf')))).toEqual(TINY);
  }
});

verifies('models/hostile-hub', 'one clear error each, and nothing that could be taken for a model', async () => {
  const faults: [HubFaults, RegExp][] = [
    [{ cutAfter: 0 }, /was lost after 0 of \d+ bytes|sent only 0 of/],
    [{ wrongHash: true }, /checksum of .* doesn’t match/],
    [{ endless: true }, /sent more than the \d+ bytes of tiny-Q4_K_M\.gguf/],
    [{ status: 404 }, /No file or repository/],
    [{ status: 403 }, /denied access to/],
    [{ status: 429 }, /Too many requests/],
    [{ status: 500 }, /responded with status 500/],
    [{ list: '<html>' }, /unreadable file list/],
    [{ list: '{"a":1}' }, /invalid file list/],
    [{ list: `[${' '.repeat(17 * 1024 * 1024)}]` }, /file list that is too long/],
    [{ list: '[]' }, /No GGUF files/],
    [{ list: '[{"type":"file","path":"../../.bashrc .gguf","size":3}]' }, /file name .* is not supported/],
  ];
  for (const [fault, message] of faults) {
    await using at = await createTestHome(fault);
    await expect(at.get(), JSON.stringify(fault).slice(0, 60)).rejects.toThrow(message);
    expect(await at.models.list()).toEqual([]);
    expect(at.there().filter((name) => !name.includes('.part'))).toEqual([]);
  }
});

verifies('models/refusals', 'no room, no such file, no such repository, no hub', async () => {
  await using at = await createTestHome();
  await expect(at.get({ freeBytes: () => Promise.resolve(1000) })).rejects.toThrow(/Not enough disk space/);
  await expect(at.get({ filename: 'none.gguf' })).rejects.toThrow(
    /No GGUF file "none.gguf" in this repository\. Available: tiny-Q4_K_M.gguf, tiny-Q8_0.gguf/,
  );
  await expect(at.get({ repo: 'perch/none' })).rejects.toThrow(/No file or repository/);
  await expect(at.get({ repo: '../x' })).rejects.toThrow(/is not a repository/);
  const far = new ModelHub('huggingface', { env: { HF_ENDPOINT: 'http://127.0.0.1:1' } });
  await expect(at.get({ hub: far })).rejects.toThrow(/Couldn’t reach .*: connection refused \(ECONNREFUSED\)/);
});

verifies('models/choice', 'the best quantisation that fits, else the smallest', () => {
  const gigabyte = 1024 ** 3;
  const files = Object.entries({
    'm-F16.gguf': 16,
    'm-Q8_0.gguf': 8,
    'm-Q6_K.gguf': 6,
    'm.Q4_K_M.gguf': 4,
    'm-Q2_K.gguf': 2,
    'mmproj-F16.gguf': 1,
  }).map(([path, size]) => ({ path, size: size * gigabyte, sha256: null }));
  const chosen = (memory: number): string | undefined => chooseGguf(files, { bytes: memory * gigabyte }).files[0]?.path;
  expect([64, 5, 3, 1].map(chosen)).toEqual(['m-Q6_K.gguf', 'm.Q4_K_M.gguf', 'm-Q2_K.gguf', 'm-Q2_K.gguf']);
  const large = files.filter(({ path }) => /F16|Q8/.test(path));
  expect(chooseGguf(large, { bytes: 64 * gigabyte }).files[0]?.path).toBe('m-Q8_0.gguf');
});
