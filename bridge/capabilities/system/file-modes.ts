import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SECRETS_FILE } from '../secrets/secrets-handlers.ts';
import type { Home } from '../../home-directory.ts';
import { JOURNAL_FILE, KEY_FILE } from '../../journal/file-names.ts';
import { SYNC_FILE } from '../../sync/sync-settings.ts';

export interface ExposedFile {
  path: string;
  mode: string;
  wanted: string;
}

/** Finds files in the home directory that other users should not be able to read or change. */
export async function findExposedFiles({
  dir,
  ...home
}: Pick<Home, 'dir' | 'tokenFile' | 'credentialsFile' | 'accessFile' | 'passwordFile'>): Promise<ExposedFile[]> {
  const homeFiles = [home.tokenFile, home.credentialsFile, home.accessFile, home.passwordFile];
  const vaultFiles = [KEY_FILE, JOURNAL_FILE, SECRETS_FILE, SYNC_FILE].map((name) => join(dir, name));
  const files = [...homeFiles, ...vaultFiles].map((path) => ({ path, wanted: 0o600 }));
  const found = await Promise.all(
    [{ path: dir, wanted: 0o700 }, ...files].map(async ({ path, wanted }) => {
      const mode = await stat(path).then(
        (stats) => stats.mode & 0o777,
        () => undefined,
      );
      return mode !== undefined && (mode & ~wanted) !== 0 ? [{ path, mode: mode.toString(8), wanted: wanted.toString(8) }] : [];
    }),
  );
  return found.flat();
}
