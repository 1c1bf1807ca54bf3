import { join } from 'node:path';
import type { secretsPort } from '#shared/ports/secrets-port.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import type { PortHandlers } from '../serve-port.ts';
import { readEnvFile } from './env-file.ts';
import { readKeyring } from './keyring.ts';

interface SecretsDeps {
  /** The bridge's home directory. */
  home: string;
  env?: NodeJS.ProcessEnv;
  /** Use only the home's file: the environment and the keyring do not belong to this vault. */
  fileOnly?: boolean;
  /** Called with each value before it is returned, to redact it from logs. */
  hide(values: Iterable<string>): void;
  log(line: string): void;
  /** Ends the programs that access the keyring with the bridge. */
  keeper: Pick<ProcessKeeper, 'keep'>;
}

export const SECRETS_FILE = 'secrets.env';

/** Maximum length of a secret that a setting can hold. */
const MAX_SECRET_CHARS = 4096;

/**
 * Handlers that return the requested names from the bridge's environment, its secrets file and the system's keyring, and nothing else
 * (shared/ports/secrets-port.ts).
 */
export function createSecretsHandlers({
  home,
  env = process.env,
  fileOnly = false,
  hide,
  log,
  keeper,
}: SecretsDeps): PortHandlers<typeof secretsPort.calls, typeof secretsPort.events> {
  const path = join(home, SECRETS_FILE);
  let loggedProblem: string | null = null;
  return {
    'secrets.resolve': async ({ names }) => {
      const { values: inFile, problem } = await readEnvFile(path);
      if (problem !== null && problem !== loggedProblem) log(`Warning: ${path} is ignored: ${problem}`);
      loggedProblem = problem;
      const values: Record<string, string> = {};
      const allowed = [...new Set(names)].filter((name) => !/^perch_/i.test(name));
      for (const name of allowed) {
        const value = (!fileOnly && Object.hasOwn(env, name) ? env[name] : undefined) || inFile.get(name);
        if (value) values[name] = value;
      }
      Object.assign(
        values,
        await readKeyring(
          allowed.filter((name) => !fileOnly && !Object.hasOwn(values, name)),
          { env, keeper },
        ),
      );
      for (const [name, value] of Object.entries(values)) if (value.length > MAX_SECRET_CHARS) delete values[name];
      hide(Object.values(values));
      return { values, file: path, problem };
    },
  };
}
