import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { startCliGateway } from './tests/cli-gateway.ts';

verifies('cli.collections/row', 'collections are created, listed, filled, searched and removed', async () => {
  await using at = await startCliGateway();
  const dir = await mkdtemp(join(tmpdir(), 'papers-'));
  try {
    const run = (...words: string[]): ReturnType<typeof at.run> =>
      at.run(['collections', ...words, '--port', at.port, '--auth-token', at.bridge.token]);
    expect((await run('list')).stdout).toBe('No collections.\n');
    const id = (await run('create', 'Papers')).stdout.trim();
    expect(id).toMatch(/^[\da-f]{12}$/);
    await writeFile(join(dir, 'whales.md'), '# Whales\n\nBlue whales eat krill.\n');
    expect((await run('add', 'Papers', join(dir, 'whales.md'))).stdout).toBe('Added 1 file to Papers.\n');
    const search = async (): Promise<string> => (await run('search', 'krill', '--collection', id)).stdout;
    while (!(await search()).includes('Blue whales eat krill.'));
    expect(await search()).toContain('Papers: whales.md');
    expect((await run('list')).stdout).toMatch(new RegExp(`${id} +1 +0 +idle +Papers`));
    expect(await run('add', 'Papers', join(dir, 'missing'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('can’t be read') as string,
    });
    expect((await run('remove', 'Papers')).stdout).toBe('Removed Papers.\n');
    expect(await run('remove', 'Papers')).toMatchObject({ code: 1, stderr: expect.stringContaining('No collection "Papers"') as string });
  } finally {
    await rm(dir, { recursive: true });
  }
});
