import { openDB } from 'idb';
import { expect, test, vi } from 'vitest';
import { dumpDatabase, createTestVault } from './fixture.ts';

const isCryptoKey = (value: unknown): value is CryptoKey => value instanceof CryptoKey;

test('a secret is kept, changed, removed, and outlives the vault', async () => {
  await using vault = await createTestVault();
  expect(await vault.secrets.get('provider.key')).toBeUndefined();
  await vault.secrets.set('provider.key', 'first');
  await vault.secrets.set('provider.key', 'zażółć 🐢');
  await vault.secrets.set('empty', '');
  await vault.close();
  await using next = await createTestVault({ name: vault.name });
  expect(await next.secrets.get('provider.key')).toBe('zażółć 🐢');
  expect(await next.secrets.get('empty')).toBe('');
  await next.secrets.set('provider.key', null);
  expect(await next.secrets.get('provider.key')).toBeUndefined();
});

test('the database never holds the plain text, nor a key that can be read out', async () => {
  await using vault = await createTestVault();
  const value = 'a-very-plain-secret-value';
  await vault.secrets.set('s', value);
  const rows = await dumpDatabase(vault.name);
  const row = rows['secrets']?.['s'] as { data: ArrayBuffer; iv: Uint8Array };
  const everything = [Buffer.from(row.data), Buffer.from(row.iv), Buffer.from(JSON.stringify(rows))];
  for (const bytes of everything) expect(bytes.includes(value)).toBe(false);
  const { key } = Object.values(rows['keys'] ?? {})[0] as { key: CryptoKey };
  expect(key.extractable).toBe(false);
  await expect(crypto.subtle.exportKey('raw', key)).rejects.toThrow();
});

test('a browser that cannot clone a CryptoKey stores the bytes of the key, and reads its secrets later', async () => {
  const { structuredClone: clone } = globalThis;
  // As in a SharedWorker of WebKit.
  const mock = vi.spyOn(globalThis, 'structuredClone').mockImplementation((value: unknown) => {
    const hasKey = isCryptoKey(value) || Object.values(value ?? {}).some(isCryptoKey);
    if (hasKey) throw new DOMException('The object can not be cloned.', 'DataCloneError');
    return clone(value);
  });
  try {
    await using vault = await createTestVault();
    await vault.secrets.set('s', 'first');
    await vault.close();
    await using next = await createTestVault({ name: vault.name });
    expect(await next.secrets.get('s')).toBe('first');
    await next.sync.adoptVaultKey(Buffer.alloc(32, 7).toString('base64url'));
    expect(await next.secrets.get('s')).toBe('first');
  } finally {
    mock.mockRestore();
  }
});

test('equal values look different', async () => {
  await using vault = await createTestVault();
  await vault.secrets.set('a', 'same');
  const first = (await dumpDatabase(vault.name))['secrets']?.['a'];
  await vault.secrets.set('a', 'same');
  const second = (await dumpDatabase(vault.name))['secrets']?.['a'];
  expect(second).not.toEqual(first);
});

test('first secrets at the same time share one key', async () => {
  await using vault = await createTestVault();
  const names = ['a', 'b', 'c', 'd'];
  await Promise.all(names.map((name) => vault.secrets.set(name, `value of ${name}`)));
  for (const name of names) expect(await vault.secrets.get(name)).toBe(`value of ${name}`);
});

test('a row put in another’s place, a changed one, and one whose key is gone are unreadable, and can be set again', async () => {
  await using vault = await createTestVault();
  await vault.secrets.set('a', 'for a');
  await vault.secrets.set('b', 'for b');
  const db = await openDB(vault.name);
  const a = await db.get('secrets', 'a');
  const b = await db.get('secrets', 'b');
  await db.put('secrets', { ...a, name: 'b' });
  await expect(vault.secrets.get('b')).rejects.toMatchObject({ name: 'SecretUnreadableError', message: expect.stringContaining('"b"') });
  new Uint8Array(b.data)[0]! ^= 1;
  await db.put('secrets', b);
  await expect(vault.secrets.get('b')).rejects.toMatchObject({ name: 'SecretUnreadableError' });
  await db.clear('keys');
  db.close();
  await expect(vault.secrets.get('a')).rejects.toMatchObject({ name: 'SecretUnreadableError' });
  await vault.secrets.set('a', 'again');
  expect(await vault.secrets.get('a')).toBe('again');
});
