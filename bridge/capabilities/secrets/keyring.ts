import { join } from 'node:path';
import { parseJson } from '#shared/parse-json.ts';
import { z } from '#shared/rpc/zod.ts';
import { packageRoot } from '../../package-root.ts';
import { createCommandEnvironment } from '../../processes/command-environment.ts';
import { type ProcessKeeper, NO_KEEPER } from '../../processes/process-keeper.ts';
import { runProgram } from '../system/run-program.ts';
import { KEYRING_MS } from './keyring-constants.ts';

/** Path of a program: the source file, or the one built by bridge/build.ts. */
const getProgramPath = (name: string): string =>
  import.meta.filename.endsWith('.ts') ? join(import.meta.dirname, `${name}.ts`) : join(packageRoot, 'dist', `${name}.js`);

/** Environment with the variables needed to reach the keyring. */
function toKeyringEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR } = env;
  return { ...createCommandEnvironment(env), DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR };
}

const secretsSchema = z.record(z.string(), z.string());

/**
 * Reads these names from the system's keyring. Returns nothing if there is no keyring, it is locked, or it does not answer. Never rejects.
 */
export async function readKeyring(
  names: readonly string[],
  { env = process.env, keeper = NO_KEEPER }: { env?: NodeJS.ProcessEnv; keeper?: Pick<ProcessKeeper, 'keep'> } = {},
): Promise<Record<string, string>> {
  if (names.length === 0) return {};
  const { stdout, code } = await runProgram(process.execPath, [getProgramPath('keyring-reader'), ...names], {
    timeout: KEYRING_MS,
    keeper,
    env: toKeyringEnvironment(env),
  });
  return code === 0 ? (secretsSchema.safeParse(parseJson(stdout)).data ?? {}) : {};
}

/**
 * Saves a secret in the keyring. `lasting`: only in one that survives the session. Resolves to false if there is no keyring, it is locked,
 * or it does not answer. Never rejects.
 */
export async function writeKeyring(name: string, value: string, { lasting = false }: { lasting?: boolean } = {}): Promise<boolean> {
  const { env } = process;
  const options = { timeout: KEYRING_MS, env: toKeyringEnvironment(env), input: value };
  return (await runProgram(process.execPath, [getProgramPath('keyring-writer'), lasting ? 'keep' : 'set', name], options)).code === 0;
}

/** Removes a secret from the keyring. Resolves to false if it was missing or the keyring can't be used. Never rejects. */
export async function removeFromKeyring(name: string, env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const options = { timeout: KEYRING_MS, env: toKeyringEnvironment(env) };
  const { stdout, code } = await runProgram(process.execPath, [getProgramPath('keyring-writer'), 'remove', name], options);
  return code === 0 && stdout === 'true';
}
