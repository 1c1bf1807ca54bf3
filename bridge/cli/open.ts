import { z } from 'zod';
import { startCommand } from '../command-line.ts';
import { type ConnectionOptions, reasonOf, targetFor } from './connect.ts';
import { credentialFor } from './credential.ts';
import { CommandError, lineOf } from './errors.ts';
import type { Target } from './target.ts';

const answer = z.object({ url: z.string() });

/** `perch open`: prints a new link (60 s, single use) of the gateway that runs on a port of this machine, or at `--url`. */
export async function openLink({ timeout = 10_000, ...options }: ConnectionOptions): Promise<void> {
  const target = targetFor(options);
  // The environment's password opens no link: that way is for tokens.
  const credential = await credentialFor(target, options, { ...process.env, PERCH_PASSWORD: undefined });
  process.stdout.write(`${await newLink(target, 'token' in credential ? credential.token : '', timeout)}\n`);
}

async function newLink(target: Target, token: string, timeoutMs: number): Promise<string> {
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
    const hint = where.startsWith('on port') ? `: start it with \`${startCommand(target.port)}\`` : ` (${reasonOf(error)})`;
    throw new CommandError(timedOut ? `what listens ${where} does not answer` : `no gateway runs ${where}${hint}`, 1, { cause: error });
  }
  if (response.status === 401)
    throw new CommandError(`the gateway ${where} has another token: is PERCH_HOME or PERCH_TOKEN the same as its own?`);
  if (response.status === 429) throw new CommandError(`the gateway ${where} refuses for now, after too many wrong tokens: try again later`);
  if (response.status === 403) throw new CommandError(`the gateway ${where} gives links to its own machine alone`);
  if (!response.ok) throw new CommandError(`what listens ${where} answered ${response.status}: it may not be Perch`);
  try {
    return answer.parse(await response.json()).url;
  } catch (error) {
    throw new CommandError(`what listens ${where} is not Perch (${lineOf(error).slice(0, 80)})`, 1, { cause: error });
  }
}
