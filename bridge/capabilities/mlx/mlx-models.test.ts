import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import type { GgufRequest } from '#shared/ports/gguf-port.ts';
import { verifies } from '../../../tests/requirements.ts';
import { waitFor } from '../../../tests/support/test-gateway.ts';
import { startHubServer } from '../../../tests/support/hub-server.ts';
import { createMlxProgram } from '../../../tests/support/mlx-server.ts';
import { ProcessKeeper } from '../../processes/process-keeper.ts';
import { downloadFiles } from '../models/download-model.ts';
import { ModelHub } from '../models/model-hub.ts';
import { LocalModels } from '../models/local-models.ts';
import { createDiskModels } from '../models/disk-models.ts';
import { MlxModels, type MlxOptions } from './mlx-models.ts';

const ID = 'perch/words/model.safetensors';
const OTHER = 'perch/other/model.safetensors';
const open = new AbortController().signal;

/** A home with two models, on a fake Mac. */
function createTestHome(options: Partial<MlxOptions> = {}) {
  const parts = new DisposableStack();
  const { env } = parts.use(createMlxProgram());
  const home = mkdtempSync(join(tmpdir(), 'perch-mlx-home-'));
  const put = (id: string, text = 'x'): void => {
    mkdirSync(dirname(join(home, 'models', id)), { recursive: true });
    writeFileSync(join(home, 'models', id), text);
  };
  for (const id of [ID, OTHER]) {
    put(id);
    put(join(dirname(id), 'config.json'), '{"max_position_embeddings":4096}');
  }
  const models = new LocalModels(home);
  const mlx = new MlxModels({
    ...{ models, env, platform: 'darwin', arch: 'arm64', keeper: new ProcessKeeper(() => {}), log: () => {} },
    ...options,
  });
  return {
    ...{ home, models, mlx, put, env },
    async ask(text = 'Hi', { id = ID, signal = open, more = {} as Partial<GgufRequest>, told = (_text: string): void => {} } = {}) {
      const pieces: string[] = [];
      const answer = await mlx.generate(id, { messages: [{ role: 'user', text }], ...more }, signal, (piece) => {
        pieces.push(piece.text);
        told(piece.text);
      });
      return { ...answer, pieces, text: pieces.join('') };
    },
    async [Symbol.asyncDispose]() {
      await mlx.unload();
      parts.dispose();
      rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

const isAlive = (pid: number | undefined): boolean => {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
};

// The stand-in is an executable script.
describe.skipIf(process.platform === 'win32')('models for MLX', () => {
  verifies('mlx/answer', 'started when it is asked first, in pieces, with true figures and tools', async () => {
    await using at = createTestHome();
    expect(at.mlx.pid).toBeUndefined();
    const first = await at.ask();
    expect(first).toMatchObject({ text: 'You said Hi to default_model', finish: 'stop', inputTokens: 7, cachedTokens: 3, outputTokens: 4 });
    expect(first.pieces.length).toBeGreaterThan(2);
    const { pid } = at.mlx;
    expect(await at.ask('again', { more: { maxTokens: 1 } })).toMatchObject({ finish: 'length' });
    const tools = [{ name: 'add', description: 'Adds', schema: { type: 'object' } }];
    expect(await at.ask('add', { more: { tools } })).toMatchObject({ finish: 'tool_calls', calls: [{ tool: 'add', args: { a: 1 } }] });
    expect(at.mlx.pid).toBe(pid);
    expect(await at.models.list()).toMatchObject([
      { id: OTHER, backend: 'mlx', contextWindow: 4096, problem: null },
      { id: ID, backend: 'mlx', contextWindow: 4096, problem: null },
    ]);
  });

  verifies('mlx/ends', 'idle, for another model, when it dies, when it is not wanted any more', async () => {
    await using at = createTestHome({ idleMs: 1 });
    await at.ask();
    await waitFor(() => at.mlx.pid === undefined, 'it to be unloaded');
    await using busy = createTestHome();
    await busy.ask();
    const { pid } = busy.mlx;
    await busy.ask('Hi', { id: OTHER });
    expect([isAlive(pid), isAlive(busy.mlx.pid)]).toEqual([false, true]);
    await expect(busy.ask('die', { id: OTHER })).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringContaining('got no reply') as string,
    });
    expect(await busy.ask('Hi', { id: OTHER })).toMatchObject({ finish: 'stop' });
    const left = new AbortController();
    const hanging = busy.ask('hang', { id: OTHER, signal: left.signal, told: () => left.abort(new Error('enough')) });
    await expect(hanging).rejects.toThrow('enough');
    expect(await busy.ask('Hi', { id: OTHER })).toMatchObject({ finish: 'stop' });
    const last = busy.mlx.pid;
    await busy.mlx.unload();
    expect(isAlive(last)).toBe(false);
  });

  verifies('mlx/refusals', 'one clear error each', async () => {
    await using at = createTestHome({ silenceMs: 3000 });
    for (const [text, message] of [
      ['refuse', /status 404/],
      ['garbage', /got no reply/],
      ['half', /was cut off/],
      ['cut', /got no reply/],
      ['hang', /no response for 3 s/],
    ] as const)
      await expect(at.ask(text), text).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringMatching(message) as string });
    await expect(at.ask('Hi', { id: 'a/b/c.safetensors' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(at.ask('Hi', { more: { json: true } })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    at.put('perch/words/broken.txt');
    await at.mlx.unload();
    await expect(at.ask()).rejects.toMatchObject({
      message: expect.stringMatching(/couldn’t be loaded.*stopped unexpectedly \(1\): ValueError: broken weights/) as string,
    });
    expect(at.mlx.pid).toBeUndefined();
    await using onLinux = createTestHome({ platform: 'linux', arch: 'x64' });
    await expect(onLinux.ask()).rejects.toMatchObject({ message: expect.stringContaining('Apple silicon') as string });
    await using without = createTestHome({ env: { PATH: '/nowhere' } });
    await expect(without.ask()).rejects.toMatchObject({ message: expect.stringContaining('pip install mlx-lm') as string });
  });

  verifies('mlx/download', 'whole, listed, run beside GGUF models, deleted', async () => {
    await using at = createTestHome();
    const files = {
      'README.md': new Uint8Array(9),
      'config.json': new TextEncoder().encode('{}'),
      'model-00001-of-00002.safetensors': new Uint8Array(5000),
      'model-00002-of-00002.safetensors': new Uint8Array(6000),
      'tokenizer.json': new Uint8Array(7),
    };
    await using hub = await startHubServer({ 'perch/shards': files, 'perch/none': { 'config.json': new Uint8Array(1) } });
    const selection = {
      hub: new ModelHub('huggingface', { env: hub.env }),
      models: at.models,
      backend: 'mlx' as const,
      memory: 1,
      signal: open,
    };
    const { id, sizeBytes } = await downloadFiles({ ...selection, repo: 'perch/shards' });
    expect([id, sizeBytes]).toEqual(['perch/shards/model-00001-of-00002.safetensors', 11_009]);
    const dir = join(at.home, 'models/perch/shards');
    expect(readdirSync(dir)).not.toContain('README.md');
    await expect(downloadFiles({ ...selection, repo: 'perch/none' })).rejects.toThrow(/No MLX weights/);
    await expect(downloadFiles({ ...selection, repo: 'perch/shards', filename: 'x' })).rejects.toThrow(/downloaded as a whole/);
    const disk = createDiskModels({
      home: at.home,
      keeper: new ProcessKeeper(() => {}),
      log: () => {},
      env: at.env,
      platform: 'darwin',
      arch: 'arm64',
    });
    const call = { signal: open, send: () => {} };
    try {
      const listed = (await disk.running['gguf.list']({}, call)).models.find((each) => each.id === id);
      expect(listed).toMatchObject({ backend: 'mlx', source: 'huggingface', sizeBytes: 11_009, problem: null });
      expect(await disk.running['gguf.generate']({ model: id, request: { messages: [{ role: 'user', text: 'Hi' }] } }, call)).toMatchObject(
        { finish: 'stop' },
      );
      await expect(async () => disk.running['gguf.embed']({ model: id, texts: ['x'] }, call)).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
      });
      rmSync(join(dir, 'model-00002-of-00002.safetensors'));
      expect((await at.models.find(id))?.problem).toMatch(/1 of 2 files/);
      expect(await disk.downloads.handlers['downloads.delete']({ model: id }, call)).toMatchObject({
        sizeBytes: expect.any(Number) as number,
      });
      expect(readdirSync(join(at.home, 'models/perch'))).toEqual(['other', 'words']);
    } finally {
      await disk.close();
    }
  });
});
