import { text } from 'node:stream/consumers';
import { toCommandLine } from '../command-line.ts';
import { Home } from '../home-directory.ts';
import { OwnerPassword, PASSWORD_CHARS } from '../owner-password.ts';
import { promptHidden } from './prompt.ts';
import { CommandError } from './command-error.ts';

interface TokenOptions {
  setPassword?: boolean;
  clearPassword?: boolean;
}

const printResult = (line: string): void => void process.stdout.write(`${line}\n`);
const printWarning = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * `perch token`: prints where the token is and whether a password is set; sets or removes the password. Applies to a running gateway
 * immediately.
 */
export async function manageToken({ setPassword = false, clearPassword = false }: TokenOptions): Promise<void> {
  if (setPassword && clearPassword) throw new CommandError('--set-password and --clear-password can’t be used together', 2);
  // Ask first, so that nothing is created without an answer.
  const newPassword = setPassword ? await promptNewPassword() : undefined;
  const home = await Home.open({ warn: printWarning });
  const password = new OwnerPassword(home.passwordFile, { warn: printWarning });
  if (newPassword !== undefined) {
    await password.set(newPassword);
    return printResult('Password set. Anyone signed in with another password is signed out.');
  }
  if (clearPassword) {
    const wasSet = await password.isSet();
    await password.clear();
    return printResult(wasSet ? 'Password removed. Anyone signed in with it is signed out.' : 'No password was set');
  }
  await home.token();
  printResult(`Token file: ${home.tokenFile}`);
  printResult((await password.isSet()) ? 'Password: set' : `Password: not set. Set one with \`${toCommandLine('token --set-password')}\`.`);
}

/** Returns the password from the option or the environment; undefined if there is none. */
export function getPassword(option: string | undefined, env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (option !== undefined) printWarning('Warning: --password is visible in the process list. Use PERCH_PASSWORD instead.');
  return option ?? (env.PERCH_PASSWORD === '' ? undefined : env.PERCH_PASSWORD);
}

/** Reads a password from the terminal, twice and hidden, or one line from standard input. */
async function promptNewPassword(): Promise<string> {
  const isInteractive = process.stdin.isTTY;
  const password = isInteractive ? await promptHidden('New password: ') : (await text(process.stdin)).replace(/\r?\n$/, '');
  const { min, max } = PASSWORD_CHARS;
  if (password.length < min || password.length > max) throw new CommandError(`The password must have ${min} to ${max} characters`, 2);
  if (/\p{Cc}/u.test(password)) throw new CommandError('The password must be a single line without control characters', 2);
  if (isInteractive && (await promptHidden('Confirm password: ')) !== password)
    throw new CommandError('The passwords don’t match. Nothing was changed.');
  return password;
}
