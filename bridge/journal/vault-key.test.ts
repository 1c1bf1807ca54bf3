import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { readMode, temporaryFolder } from './fixture.ts';
import { loadVaultKey } from './vault-key.ts';

verifies('vault.journal/private', 'the key is made once, with 256 bits, for the owner alone, whatever the umask', async () => {
  using folder = temporaryFolder();
  const before = process.umask(0);
  try {
    const keys = await Promise.all(Array.from({ length: 8 }, () => loadVaultKey(folder.dir)));
    expect(new Set([...keys, await loadVaultKey(folder.dir)]).size).toBe(1);
    expect(Buffer.from(keys[0] ?? '', 'base64url')).toHaveLength(32);
    expect(readdirSync(folder.dir)).toEqual(['vault.key']);
    expect(readMode(join(folder.dir, 'vault.key'))).toBe('600');
  } finally {
    process.umask(before);
  }
});

it('warns of a mode that lets others in, and names a file that holds no key', async () => {
  using folder = temporaryFolder();
  const path = join(folder.dir, 'vault.key');
  const lines: string[] = [];
  await loadVaultKey(folder.dir, (line) => lines.push(line));
  chmodSync(path, 0o644);
  await loadVaultKey(folder.dir, (line) => lines.push(line));
  expect(lines).toEqual([expect.stringContaining(`${path} can be read by other users (mode 644)`)]);
  writeFileSync(path, 'nothing');
  await expect(loadVaultKey(folder.dir)).rejects.toThrow(`${path} doesn’t contain a valid key`);
});

verifies('secrets/vault-key', 'no new key where there was one: a journal without its key, a keyring that does not give it', async () => {
  using folder = temporaryFolder();
  const path = join(folder.dir, 'vault.key');
  writeFileSync(join(folder.dir, 'journal.sqlite'), '');
  await expect(loadVaultKey(folder.dir)).rejects.toThrow(`${path} is missing. The journal can’t be read without it`);
  for (const text of ['keyring', 'keyring ../x', 'keyring PERCH_VAULT_KEY_0123', `keyring PERCH_VAULT_KEY_${'0'.repeat(16)} more`]) {
    writeFileSync(path, `${text}\n`);
    await expect(loadVaultKey(folder.dir), text).rejects.toThrow('doesn’t contain a valid key');
  }
});
