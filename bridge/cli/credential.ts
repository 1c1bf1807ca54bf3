import { Home } from '../home-directory.ts';
import { CommandError } from './command-error.ts';
import { getPassword } from './token-actions.ts';
import type { GatewayTarget } from './gateway-target.ts';
import { getGivenToken, getRunningToken } from './owner-token.ts';

type GatewayCredential = { token: string } | { password: string };

/** Credential options of the command line. */
export interface CredentialOptions {
  token?: string | undefined;
  /** `--auth-token`, the earlier name of `--token`. */
  authToken?: string | undefined;
  password?: string | undefined;
}

const printWarning = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Returns the credential for a gateway: from the command line, else the environment, else the stored token. The latter two are only sent to
 * a loopback address of this machine; any other needs one on the command line. Throws a CommandError (2) without one.
 */
export async function getCredential(
  target: GatewayTarget,
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
      printWarning(`Warning: The connection to ${target.http} isn’t encrypted. Your token or password is sent in plain text.`);
  }
  const environment = target.isLocal && password === undefined ? env.PERCH_TOKEN : undefined;
  const givenToken = getGivenToken({ option, environment, name: token === undefined ? '--auth-token' : '--token' }, printWarning);
  if (givenToken !== undefined) return { token: givenToken };
  const byPassword = getPassword(password, target.isLocal ? env : {});
  if (byPassword !== undefined) return { password: byPassword };
  return { token: await getRunningToken(await Home.open({ warn: printWarning }), target.port, undefined) };
}
