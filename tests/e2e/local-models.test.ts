import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { z } from '#shared/rpc/zod.ts';
import { verifies } from '../requirements.ts';
import { EXTRAS_HOME, installSharedExtra } from '../support/gguf-extra.ts';
import { createGgufFile } from '../support/gguf-file.ts';
import { startHubServer } from '../support/hub-server.ts';
import { runPerch, startPerch } from './perch-process.ts';

const { missing } = await installSharedExtra();

describe.skipIf(missing !== undefined)(`local models${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  verifies(
    ['cli.models/row', 'cli.models-select/row'],
    'downloaded, selected, asked, deleted',
    async () => {
      await using hub = await startHubServer({ 'perch/tiny': { 'tiny.gguf': createGgufFile() } });
      const home = mkdtempSync(join(tmpdir(), 'perch-home-'));
      mkdirSync(join(home, 'extras'));
      symlinkSync(join(EXTRAS_HOME, 'extras', 'gguf'), join(home, 'extras', 'gguf'));
      const env = { PERCH_HOME: home, ...hub.env };
      try {
        await using gateway = await startPerch({ home });
        const id = (await runPerch(['models', 'download', 'perch/tiny'], env)).stdout.trim();
        expect(id).toBe('perch/tiny/tiny.gguf');
        const { port } = new URL(gateway.url);
        const { stdout } = await runPerch(['models', 'select', id, '--port', port, '--json'], env);
        expect(JSON.parse(stdout)).toEqual({ selected: `gguf/${id}` });
        const client = await gateway.client();
        expect(await client.call('config.get', { key: 'chat.model' })).toMatchObject({ value: `gguf/${id}` });
        client.close();
        const answer = await gateway.fetch('/v1/chat/completions', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: `gguf/${id}`, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 }),
        });
        const { usage } = z.object({ usage: z.object({ completion_tokens: z.number() }) }).parse(await answer.json());
        expect(usage.completion_tokens).toBe(5);
        expect((await runPerch(['models', 'delete-local', id], env)).stdout).toContain(`Deleted ${id}`);
        expect(JSON.parse((await runPerch(['models', 'local', '--json'], env)).stdout)).toEqual({ models: [] });
      } finally {
        rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
      }
    },
    90_000,
  );
});
