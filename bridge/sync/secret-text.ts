import { join } from 'node:path';
import { readEnvFile } from '../capabilities/secrets/env-file.ts';
import { readKeyring } from '../capabilities/secrets/keyring.ts';
import { SECRETS_FILE } from '../capabilities/secrets/secrets-handlers.ts';
import { ClusterProblem } from '#shared/sync/nats/cluster-problem.ts';

/**
 * Returns a setting's text, or the secret that it refers to as `${NAME}` (docs/decisions/0030), from the environment, `secrets.env` or the
 * keyring.
 */
export async function resolveSecretText(dir: string, text: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const name = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(text)?.[1];
  if (name === undefined) return text;
  if (!/^perch_/i.test(name)) {
    const { values } = await readEnvFile(join(dir, SECRETS_FILE));
    const value = (Object.hasOwn(env, name) ? env[name] : undefined) || values.get(name) || (await readKeyring([name], { env }))[name];
    if (value) return value;
  }
  throw new ClusterProblem('refused', `No secret named ${name}, which the sync settings refer to`);
}
