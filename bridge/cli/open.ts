import { z } from 'zod';
import { startCommand } from '../command-line.ts';
import { Home } from '../home.ts';
import { CommandError, lineOf } from './errors.ts';
import { givenToken, tokenOfRunning } from './token.ts';

const answer = z.object({ url: z.string() });

/** `perch open`: prints a new link (60 s, single use) of the gateway that runs on a port of this machine. */
export async function openLink({ port, authToken }: { port: number; authToken?: string }): Promise<void> {
  const warn = (line: string): void => void process.stderr.write(`${line}\n`);
  const home = await Home.open({ warn });
  const token = await tokenOfRunning(home, port, givenToken({ option: authToken, environment: process.env.PERCH_TOKEN }, warn));
  process.stdout.write(`${await newLink(port, token)}\n`);
}

async function newLink(port: number, token: string): Promise<string> {
  let response: Response;
  try {
    response = await fetch(`http://127.0.0.1:${port}/link/code`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      redirect: 'error',
      signal: AbortSignal.timeout(10_000),
    });
  } catch (error) {
    const timedOut = error instanceof Error && error.name === 'TimeoutError';
    throw new CommandError(
      timedOut
        ? `what listens on port ${port} does not answer`
        : `no gateway runs on port ${port}: start it with \`${startCommand(port)}\``,
      1,
      {
        cause: error,
      },
    );
  }
  if (response.status === 401)
    throw new CommandError(`the gateway on port ${port} has another token: is PERCH_HOME or PERCH_TOKEN the same as its own?`);
  if (response.status === 429)
    throw new CommandError(`the gateway on port ${port} refuses for now, after too many wrong tokens: try again later`);
  if (!response.ok) throw new CommandError(`what listens on port ${port} answered ${response.status}: it may not be Perch`);
  try {
    return answer.parse(await response.json()).url;
  } catch (error) {
    throw new CommandError(`what listens on port ${port} is not Perch (${lineOf(error).slice(0, 80)})`, 1, { cause: error });
  }
}
