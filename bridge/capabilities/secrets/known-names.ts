import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { secretName } from '#shared/ports/secrets.ts';
import { z } from '#shared/rpc/zod.ts';
import { readIfThere, writeWhole } from '../../home.ts';

const names = z.array(secretName);
const pathIn = (home: string): string => join(home, 'keyring-names.json');

/** Names of the secrets that `perch secrets set` saved in the keyring, which can't list its entries. */
export async function knownNames(home: string): Promise<string[]> {
  const text = await readIfThere(pathIn(home));
  try {
    return names.parse(JSON.parse(text ?? '[]'));
  } catch {
    return [];
  }
}

export async function noteName(home: string, name: string, isKept: boolean): Promise<void> {
  const before = await knownNames(home);
  if (before.includes(name) === isKept) return;
  const after = isKept ? [...before, name].sort() : before.filter((each) => each !== name);
  await writeWhole(pathIn(home), `${JSON.stringify(after)}\n`, rename);
}
