import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { secretName } from '#shared/ports/secrets-port.ts';
import { z } from '#shared/rpc/zod.ts';
import { readFileIfExists, writeFileAtomically } from '../../home-directory.ts';

const namesSchema = z.array(secretName);
const getNamesPath = (home: string): string => join(home, 'keyring-names.json');

/** Names of the secrets that `perch secrets set` saved in the keyring, which can't list its entries. */
export async function readKeyringNames(home: string): Promise<string[]> {
  const text = await readFileIfExists(getNamesPath(home));
  try {
    return namesSchema.parse(JSON.parse(text ?? '[]'));
  } catch {
    return [];
  }
}

export async function updateKeyringName(home: string, name: string, isStored: boolean): Promise<void> {
  const before = await readKeyringNames(home);
  if (before.includes(name) === isStored) return;
  const after = isStored ? [...before, name].sort() : before.filter((each) => each !== name);
  await writeFileAtomically(getNamesPath(home), `${JSON.stringify(after)}\n`, rename);
}
