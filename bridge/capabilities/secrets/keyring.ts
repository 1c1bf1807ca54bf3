import { join } from 'node:path';
import { parseJson } from '#shared/parse-json.ts';
import { z } from '#shared/rpc/zod.ts';
import { packageRoot } from '../../package-root.ts';
import { commandEnvironment } from '../../processes/environment.ts';
import { type Keeper, UNKEPT } from '../../processes/keep.ts';
import { runProgram } from '../system/run-program.ts';
import { KEYRING_MS } from './keyring-place.ts';

/** Path of a program: the source file, or the one built by bridge/build.ts. */
const programOf = (name: string): string =>
  import.meta.filename.endsWith('.ts') ? join(import.meta.dirname, `${name}.ts`) : join(packageRoot, 'dist', `${name}.js`);

/** Environment with the variables needed to reach the keyring. */
function environmentOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR } = env;
  return { ...commandEnvironment(env), DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR };
}

const found = z.record(z.string(), z.string());

/**
 * Reads these names from the system's keyring. Returns nothing if there is no keyring, it is locked, or it does not answer. Never rejects.
 */
export async function readKeyring(
  names: readonly string[],
  { env = process.env, keeper = UNKEPT }: { env?: NodeJS.ProcessEnv; keeper?: Pick<Keeper, 'keep'> } = {},
): Promise<Record<string, string>> {
  if (names.length === 0) return {};
  const { stdout, code } = await runProgram(process.execPath, [programOf('keyring-reader'), ...names], {
    timeout: KEYRING_MS,
    keeper,
    env: environmentOf(env),
  });
  return code === 0 ? (found.safeParse(parseJson(stdout)).data ?? {}) : {};
}

/**
 * Saves a secret in the keyring. `lasting`: only in one that survives the session. Resolves to false if there is no keyring, it is locked,
 * or it does not answer. Never rejects.
 */
export async function writeKeyring(name: string, value: string, { lasting = false }: { lasting?: boolean } = {}): Promise<boolean> {
  const { env } = process;
  const options = { timeout: KEYRING_MS, env: environmentOf(env), input: value };
  return (await runProgram(process.execPath, [programOf('keyring-writer'), lasting ? 'keep' : 'set', name], options)).code === 0;
}

/** Removes a secret from the keyring. Resolves to false if it was missing or the keyring can't be used. Never rejects. */
export async function removeFromKeyring(name: string, env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const options = { timeout: KEYRING_MS, env: environmentOf(env) };
  const { stdout, code } = await runProgram(process.execPath, [programOf('keyring-writer'), 'remove', name], options);
  return code === 0 && stdout === 'true';
}
