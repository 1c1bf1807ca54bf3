import { join } from 'node:path';
import { parseJson } from '#shared/parse-json.ts';
import { z } from '#shared/rpc/zod.ts';
import { packageRoot } from '../../package-root.ts';
import { commandEnvironment } from '../../processes/environment.ts';
import { type Keeper, UNKEPT } from '../../processes/keep.ts';
import { runProgram } from '../system/run-program.ts';
import { KEYRING_MS } from './keyring-place.ts';

/** A program: of the sources, or as bridge/build.ts makes it. */
const programOf = (name: string): string =>
  import.meta.filename.endsWith('.ts') ? join(import.meta.dirname, `${name}.ts`) : join(packageRoot, 'dist', `${name}.js`);

/** What a keyring is reached by. */
function environmentOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR } = env;
  return { ...commandEnvironment(env), DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR };
}

const found = z.record(z.string(), z.string());

/** What the system's keyring has of these names; nothing where there is none, or it is locked, or does not answer. Never rejects. */
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

/** Puts a secret into the keyring; `lasting`: only into one that keeps it when the session ends. False: there is none, or it is locked, or does not answer. Never rejects. */
export async function writeKeyring(name: string, value: string, { lasting = false }: { lasting?: boolean } = {}): Promise<boolean> {
  const { env } = process;
  const options = { timeout: KEYRING_MS, env: environmentOf(env), input: value };
  return (await runProgram(process.execPath, [programOf('keyring-writer'), lasting ? 'keep' : 'set', name], options)).code === 0;
}

/** Takes a secret out of the keyring. False: it was not there, or the keyring cannot be used. Never rejects. */
export async function removeFromKeyring(name: string, env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const options = { timeout: KEYRING_MS, env: environmentOf(env) };
  const { stdout, code } = await runProgram(process.execPath, [programOf('keyring-writer'), 'remove', name], options);
  return code === 0 && stdout === 'true';
}
