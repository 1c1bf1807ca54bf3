import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { runPerch } from '../../tests/e2e/perch-process.ts';
import { verifies } from '../../tests/requirements.ts';
import { createGgufFile } from '../../tests/support/gguf-file.ts';
import { startHubServer } from '../../tests/support/hub-server.ts';
import { startCliGateway } from './tests/cli-gateway.ts';

const TINY = createGgufFile();
const ID = 'perch/tiny/tiny.gguf';

async function createTestHome() {
  const hub = await startHubServer({ 'perch/tiny': { 'tiny.gguf': TINY } });
  const home = mkdtempSync(join(tmpdir(), 'perch-home-'));
  return {
    home,
    run: (...args: string[]) => runPerch(['models', ...args], { PERCH_HOME: home, ...hub.env }),
    async [Symbol.asyncDispose]() {
      await hub[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

verifies('cli.models/row', 'download, local and delete-local, without a gateway', async () => {
  await using at = await createTestHome();
  expect((await at.run('local')).stdout).toContain('No local models');
  const first = await at.run('download', 'perch/tiny', '--json');
  expect(JSON.parse(first.stdout)).toEqual({ id: ID, sizeBytes: TINY.length, fresh: true, runtime: 'missing' });
  expect(first.stderr).toContain('models runtime install');
  const again = await at.run('download', 'perch/tiny', '--filename', 'tiny.gguf', '--source', 'modelscope', '--backend', 'gguf');
  expect(again.stdout).toBe(`${ID}\n`);
  const { models } = JSON.parse((await at.run('local', '--json')).stdout) as { models: object[] };
  expect(models).toMatchObject([{ id: ID, backend: 'gguf', sizeBytes: TINY.length, source: 'huggingface', problem: null }]);
  expect((await at.run('local')).stdout).toMatch(/^perch\/tiny\/tiny\.gguf .*2048 tokens\n$/);
  expect((await at.run('delete-local', ID)).stdout).toContain(`Deleted ${ID}`);
  expect(JSON.parse((await at.run('local', '--json')).stdout)).toEqual({ models: [] });
  expect(JSON.parse((await at.run('runtime', 'status', '--json')).stdout)).toMatchObject({ package: 'node-llama-cpp', state: 'missing' });
});

verifies('models.cli/errors', 'one line, exit 1 or 2', async () => {
  await using at = await createTestHome();
  const refused: [args: string[], code: number, line: RegExp][] = [
    [['download', 'perch/none'], 1, /No file or repository/],
    [['download', 'perch/tiny', '--filename', 'x.gguf'], 1, /No GGUF file "x\.gguf"/],
    [['download', 'perch/tiny', '--source', 'other'], 2, /Allowed choices are huggingface, modelscope/],
    [['download'], 2, /Missing required argument/],
    [['delete-local', ID], 1, /No local model/],
    [['select', 'tiny'], 2, /is not a model ID\. Use <owner>\/<name>\/<file>/],
    [['select', ID, '--port', '1'], 1, /Couldn’t connect to the gateway on port 1/],
    [['delete-local', 'tiny', '--port', '1'], 2, /is not a model ID/],
    [['local', '--url', 'ws://127.0.0.1:1'], 1, /Couldn’t connect to the gateway at ws:\/\/127\.0\.0\.1:1/],
    [['local', '--url', 'wss://perch.invalid'], 2, /Use --token or --password/],
    [['runtime', 'uninstall'], 1, /is not installed/],
    ...(process.platform === 'darwin'
      ? []
      : ([[['download', 'perch/tiny', '--backend', 'mlx'], 1, /requires a Mac with Apple silicon/]] as [string[], number, RegExp][])),
  ];
  for (const [args, code, line] of refused) {
    const ended = await at.run(...args).catch((error: unknown) => error);
    expect(ended, args.join(' ')).toMatchObject({ code, stderr: expect.stringMatching(line) as string });
    expect((ended as { stderr: string }).stderr).toMatch(/^perch: .*\n$/);
  }
});

verifies('cli.models/default', 'deleting the default model warns, and the setting is gone; another default stays', async () => {
  await using at = await createTestHome();
  const settings = join(at.home, 'config.json');
  for (const [model, isCleared] of [
    [`gguf/${ID}`, true],
    ['ollama/llama3.2', false],
  ] as const) {
    await at.run('download', 'perch/tiny');
    writeFileSync(settings, `{\n  // Mine.\n  "chat": { "model": "${model}", "maxSteps": 7 }\n}\n`);
    const { stdout, stderr } = await at.run('delete-local', ID, '--json');
    expect(JSON.parse(stdout)).toEqual({ deleted: true, id: ID, sizeBytes: TINY.length, defaultCleared: isCleared });
    expect(stderr.includes('was the default model. No default model is set now'), stderr).toBe(isCleared);
    const text = readFileSync(settings, 'utf8');
    expect(text).toContain('// Mine.');
    expect(text.includes('"model"')).toBe(!isCleared);
    expect(text).toContain('"maxSteps": 7');
  }
});

verifies(
  ['cli.models/gateway', 'cli.models/default', 'cli.models-select/row'],
  'of the computer of a gateway that the line names',
  async () => {
    await using hub = await startHubServer({ 'perch/tiny': { 'tiny.gguf': TINY } });
    for (const [name, value] of Object.entries(hub.env)) vi.stubEnv(name, value);
    await using at = await startCliGateway();
    const otherDir = mkdtempSync(join(tmpdir(), 'perch-elsewhere-'));
    try {
      const url = at.bridge.url.replace('http', 'ws');
      const run = (...args: string[]) =>
        at.run(['models', ...args, '--url', url, '--token', at.bridge.token, '--json'], { env: { PERCH_HOME: otherDir } });
      const json = async (...args: string[]): Promise<unknown> => {
        const ended = await run(...args);
        expect([ended.code, ended.stderr]).toEqual([0, expect.stringMatching(/^(Warning: .*\n)*$/)]);
        return JSON.parse(ended.stdout);
      };
      expect(await json('local')).toEqual({ models: [] });
      expect(await json('download', 'perch/tiny')).toEqual({ id: ID, sizeBytes: TINY.length });
      expect(await json('local')).toMatchObject({ models: [{ id: ID, backend: 'gguf' }] });
      // This computer has no models.
      expect((await at.run(['models', 'local'], { env: { PERCH_HOME: otherDir } })).stdout).toContain('No local models');
      expect(await json('select', ID)).toEqual({ selected: `gguf/${ID}` });
      const deleted = await run('delete-local', ID);
      expect(JSON.parse(deleted.stdout)).toEqual({ deleted: true, id: ID, sizeBytes: TINY.length, defaultCleared: true });
      expect(deleted.stderr).toContain('was the default model');
      const { client } = await at.gw.client();
      expect((await client.call('config.get', {})).value).not.toHaveProperty('chat.model');
      expect(await run('delete-local', ID)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('NOT_FOUND: No local model') as string,
      });
      expect(await run('download', 'perch/none')).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/No file or repository/) as string,
      });
    } finally {
      vi.unstubAllEnvs();
      rmSync(otherDir, { recursive: true, force: true });
    }
  },
);
