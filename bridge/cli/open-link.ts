import { z } from 'zod';
import { NO_VAULT } from '../server/no-vault.ts';
import { toStartCommand } from '../command-line.ts';
import { type ConnectionOptions, describeNetworkError, resolveTarget } from './connect-gateway.ts';
import { getCredential } from './credential.ts';
import { CommandError, toErrorLine } from './command-error.ts';
import { printNote } from './terminal-output.ts';
import type { GatewayTarget } from './gateway-target.ts';

const linkResponse = z.object({ url: z.string(), elsewhere: z.string().optional() });

/**
 * `perch open`: prints a new single-use link, valid for 60 s, of the gateway on a local port or at `--url`, and one for other devices if
 * they can open the app. `qr`: prints only the latter, with a QR code.
 */
export async function openLink({ timeout = 10_000, qr = false, ...options }: ConnectionOptions & { qr?: boolean }): Promise<void> {
  const target = resolveTarget(options);
  // Ignores the environment's password: links require a token.
  const credential = await getCredential(target, options, { ...process.env, PERCH_PASSWORD: undefined });
  const { url, elsewhere } = await requestLink(target, 'token' in credential ? credential.token : '', timeout, options.vault);
  if (qr) {
    if (elsewhere === undefined)
      throw new CommandError('Other devices can’t open the app. Start the gateway with --bind, --expose, --tls-cert and --tls-key.');
    const { renderUnicodeCompact } = await import('uqr');
    // Printed in the terminal's colours, light on dark or dark on light: cameras read both.
    process.stdout.write(`${renderUnicodeCompact(elsewhere, { ecc: 'M', border: 4 })}\n${elsewhere}\n`);
    return;
  }
  process.stdout.write(`${url}\n`);
  if (elsewhere !== undefined) printNote(`On another device: ${elsewhere}`);
}

async function requestLink(
  target: GatewayTarget,
  token: string,
  timeoutMs: number,
  vault: string | undefined,
): Promise<z.infer<typeof linkResponse>> {
  const { where } = target;
  let response: Response;
  try {
    response = await fetch(`${target.http}/link/code${target.query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (error) {
    const timedOut = error instanceof Error && error.name === 'TimeoutError';
    const hint = where.startsWith('on port') ? `. Start it with \`${toStartCommand(target.port)}\`.` : ` (${describeNetworkError(error)})`;
    throw new CommandError(timedOut ? `The gateway ${where} didn’t respond in time` : `No gateway is running ${where}${hint}`, 1, {
      cause: error,
    });
  }
  if (response.status === 401)
    throw new CommandError(`The gateway ${where} rejected the token. Check that PERCH_HOME and PERCH_TOKEN match the gateway’s.`);
  if (response.status === 429) throw new CommandError(`The gateway ${where} is locked after too many wrong tokens. Try again later.`);
  if (response.status === 403) throw new CommandError(`The gateway ${where} only creates links on its own computer`);
  if (response.status === 404 && vault !== undefined && (await response.text()).includes(NO_VAULT))
    throw new CommandError(`The gateway ${where} doesn’t serve the vault ${vault}. If you have just created it, restart the gateway.`);
  if (!response.ok) throw new CommandError(`The server ${where} answered with status ${response.status}. It may not be Perch.`);
  try {
    return linkResponse.parse(await response.json());
  } catch (error) {
    throw new CommandError(`The server ${where} is not Perch (${toErrorLine(error).slice(0, 80)})`, 1, { cause: error });
  }
}
