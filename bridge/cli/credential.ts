import { Home } from '../home.ts';
import { CommandError } from './errors.ts';
import { givenPassword } from './password.ts';
import type { Target } from './target.ts';
import { givenToken, tokenOfRunning } from './token.ts';

export type GatewayCredential = { token: string } | { password: string };

/** Credential options of the command line. */
export interface CredentialOptions {
  token?: string | undefined;
  /** `--auth-token`, the earlier name of `--token`. */
  authToken?: string | undefined;
  password?: string | undefined;
}

const warn = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Returns the credential for a gateway: from the command line, else the environment, else the stored token. The latter two are only sent to
 * a loopback address of this machine; any other needs one on the command line. Throws a CommandError (2) without one.
 */
export async function credentialFor(
  target: Target,
  { token, authToken, password }: CredentialOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<GatewayCredential> {
  const option = token ?? authToken;
  if (!target.isLocal) {
    if (option === undefined && password === undefined)
      throw new CommandError(
        `The gateway ${target.where} is on another computer, so your saved token isn’t sent to it. Use --token or --password.`,
        2,
      );
    if (target.ws.startsWith('ws:'))
      warn(`Warning: The connection to ${target.http} isn’t encrypted. Your token or password is sent in plain text.`);
  }
  const environment = target.isLocal && password === undefined ? env.PERCH_TOKEN : undefined;
  const given = givenToken({ option, environment, name: token === undefined ? '--auth-token' : '--token' }, warn);
  if (given !== undefined) return { token: given };
  const byPassword = givenPassword(password, target.isLocal ? env : {});
  if (byPassword !== undefined) return { password: byPassword };
  return { token: await tokenOfRunning(await Home.open({ warn }), target.port, undefined) };
}
