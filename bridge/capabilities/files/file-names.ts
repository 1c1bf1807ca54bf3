import { randomBytes } from 'node:crypto';
import { workspacePath } from '#shared/rpc/workspace-file.ts';

const TEMPORARY_NAME = /^\.perch-[0-9a-f]{12}\.tmp$/;
const WINDOWS_INVALID = /[<>:"|?*]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** Name of a file while it is being written. */
export const createTemporaryName = (): string => `.perch-${randomBytes(6).toString('hex')}.tmp`;
export const isTemporary = (name: string): boolean => TEMPORARY_NAME.test(name);

/** Why the vault can't store a file with this name; undefined if it can. */
export function checkVaultName(path: string): string | undefined {
  if (path.includes('\uFFFD')) return 'its name is not UTF-8';
  const { error } = workspacePath.safeParse(path);
  return error && `its name ${error.issues[0]?.message ?? 'is invalid'}`;
}

/** Why this system can't store a file with this name; undefined if it can. */
export const checkDiskName = (path: string, platform: NodeJS.Platform = process.platform): string | undefined =>
  platform === 'win32' && path.split('/').some((part) => WINDOWS_INVALID.test(part)) ? 'Windows doesn’t allow this name' : undefined;
