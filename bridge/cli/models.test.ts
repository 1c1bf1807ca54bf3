import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { perch } from '../../tests/e2e/harness.ts';
import { verifies } from '../../tests/requirements.ts';
import { ggufFile } from '../../tests/support/gguf-file.ts';
import { hubServer } from '../../tests/support/hub-server.ts';

const TINY = ggufFile();
const ID = 'perch/tiny/tiny.gguf';

async function world() {
  const hub = await hubServer({ 'perch/tiny': { 'tiny.gguf': TINY } });
  const home = mkdtempSync(join(tmpdir(), 'perch-home-'));
  return {
    run: (...args: string[]) => perch(['models', ...args], { PERCH_HOME: home, ...hub.env }),
    async [Symbol.asyncDispose]() {
      await hub[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

verifies('cli.models/row', 'download, local and delete-local, without a gateway', async () => {
  await using at = await world();
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
  await using at = await world();
  const refused: [args: string[], code: number, line: RegExp][] = [
    [['download', 'perch/none'], 1, /No file or repository/],
    [['download', 'perch/tiny', '--filename', 'x.gguf'], 1, /No GGUF file "x\.gguf"/],
    [['download', 'perch/tiny', '--source', 'other'], 2, /Allowed choices are huggingface, modelscope/],
    [['download'], 2, /Missing required argument/],
    [['delete-local', ID], 1, /No local model/],
    [['select', 'tiny'], 2, /is not a model ID\. Use <owner>\/<name>\/<file>/],
    [['select', ID, '--port', '1'], 1, /No local model/],
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
