import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '../home.ts';
import { CommandError } from './errors.ts';

/** The owner's token, and the file that holds it for the commands of this user. */
export interface OwnerToken {
  value: string;
  file: string;
}

export interface GivenToken {
  /** `--auth-token`, `--token`. */
  option?: string | undefined;
  /** How the option is called. */
  name?: string;
  /** `PERCH_TOKEN`. */
  environment?: string | undefined;
}

/** Where a gateway on a port keeps a token that it was given, for as long as it runs. */
const givenFile = (home: Home, port: number): string => join(home.dir, `token.${port}`);

/** What `PERCH_TOKEN` says, taken out of the environment, and the password with it: no program that is started from here on is to have them. */
export function tokenTaken(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { PERCH_TOKEN: token } = env;
  delete env.PERCH_TOKEN;
  delete env.PERCH_PASSWORD;
  return token;
}

/** A token that was given by option or environment; undefined where none was. Throws where it cannot be sent in a header. */
export function givenToken({ option, environment, name = '--auth-token' }: GivenToken, warn: (line: string) => void): string | undefined {
  if (option !== undefined) warn(`Warning: ${name} is visible in the process list. Use PERCH_TOKEN or the token file instead.`);
  const token = option ?? (environment === '' ? undefined : environment);
  if (token === undefined) return undefined;
  if (!/^[\x21-\x7e]{1,1000}$/.test(token))
    throw new CommandError('The token must be 1 to 1,000 visible ASCII characters without spaces', 2);
  if (token.length < 32) warn('Warning: The token is short. Use at least 32 random characters.');
  return token;
}

/**
 * The owner's token of a gateway that begins to serve on a port. One that was given goes where `perch open` and the printed `curl` find it: a file of mode 0600,
 * removed at the end, or by the next gateway on this port.
 */
export async function keepToken(home: Home, port: number, given: string | undefined): Promise<OwnerToken & { forget(): Promise<void> }> {
  const file = givenFile(home, port);
  await rm(file, { force: true });
  if (given === undefined) return { value: await home.token(), file: home.tokenFile, forget: () => Promise.resolve() };
  await writeFile(file, `${given}\n`, { mode: 0o600, flag: 'wx' });
  if (process.platform !== 'win32') await chmod(file, 0o600);
  return { value: given, file, forget: () => rm(file, { force: true }) };
}

/** The token of the gateway that runs on a port: given here, or given to it, or the home's own. */
export async function tokenOfRunning(home: Home, port: number, given: string | undefined): Promise<string> {
  if (given !== undefined) return given;
  const kept = await readFile(givenFile(home, port), 'utf8').catch(() => undefined);
  return kept?.trim() || home.token();
}
