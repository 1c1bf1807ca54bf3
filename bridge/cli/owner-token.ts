import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '../home-directory.ts';
import { CommandError } from './command-error.ts';

/** The owner's token, and the file that stores it for this user's commands. */
interface OwnerToken {
  value: string;
  file: string;
}

interface TokenSource {
  /** Value of `--auth-token` or `--token`. */
  option?: string | undefined;
  /** Name of the option. */
  name?: string;
  /** Value of `PERCH_TOKEN`. */
  environment?: string | undefined;
}

/** File for the token given to the gateway on a port, while that runs. */
const toTokenFile = (home: Home, port: number): string => join(home.dir, `token.${port}`);

/** Returns `PERCH_TOKEN` and removes it and the password from the environment, so that child processes do not inherit them. */
export function takeTokenFromEnv(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { PERCH_TOKEN: token } = env;
  delete env.PERCH_TOKEN;
  delete env.PERCH_PASSWORD;
  return token;
}

/** Returns a token from the option or the environment; undefined if there is none. Throws if it can't be sent in a header. */
export function getGivenToken(
  { option, environment, name = '--auth-token' }: TokenSource,
  warn: (line: string) => void,
): string | undefined {
  if (option !== undefined) warn(`Warning: ${name} is visible in the process list. Use PERCH_TOKEN or the token file instead.`);
  const token = option ?? (environment === '' ? undefined : environment);
  if (token === undefined) return undefined;
  if (!/^[\x21-\x7e]{1,1000}$/.test(token))
    throw new CommandError('The token must be 1 to 1,000 visible ASCII characters without spaces', 2);
  if (token.length < 32) warn('Warning: The token is short. Use at least 32 random characters.');
  return token;
}

/**
 * Returns the owner's token for a gateway on a port. A given token is saved for `perch open` and the printed `curl` in a file of mode 0600,
 * which is removed at the end or by the next gateway on this port.
 */
export async function storeToken(
  home: Home,
  port: number,
  givenToken: string | undefined,
): Promise<OwnerToken & { forget(): Promise<void> }> {
  const file = toTokenFile(home, port);
  await rm(file, { force: true });
  if (givenToken === undefined) return { value: await home.token(), file: home.tokenFile, forget: () => Promise.resolve() };
  await writeFile(file, `${givenToken}\n`, { mode: 0o600, flag: 'wx' });
  if (process.platform !== 'win32') await chmod(file, 0o600);
  return { value: givenToken, file, forget: () => rm(file, { force: true }) };
}

/** Returns the token of the gateway running on a port: the given one, the one that the gateway was given, or the home's own. */
export async function getRunningToken(home: Home, port: number, givenToken: string | undefined): Promise<string> {
  if (givenToken !== undefined) return givenToken;
  const savedToken = await readFile(toTokenFile(home, port), 'utf8').catch(() => undefined);
  return savedToken?.trim() || home.token();
}
