import { GatewayClient } from '#shared/client/client.ts';
import { socketLink } from '#shared/client/websocket.ts';
import type { DoctorCheck } from '#shared/rpc/methods/status.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { startCommand } from '../command-line.ts';
import { Home } from '../home.ts';
import { CommandError, lineOf } from './errors.ts';
import { givenPassword } from './password.ts';
import { givenToken, tokenOfRunning } from './token.ts';

const CONNECT_MS = 10_000;
const RUN_MS = 60_000;

export interface DoctorOptions {
  port: number;
  authToken?: string;
  password?: string;
  json?: boolean;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** `perch doctor`: runs the gateway's own diagnosis and prints what it found, faults first. Exit code 1 where there is a fault. */
export async function runDoctor({ port, authToken, password, json = false }: DoctorOptions): Promise<void> {
  const warn = (line: string): void => void process.stderr.write(`${line}\n`);
  const token = givenToken({ option: authToken, environment: process.env.PERCH_TOKEN }, warn);
  const byPassword = token === undefined ? givenPassword(password) : undefined;
  const auth =
    byPassword === undefined ? { token: await tokenOfRunning(await Home.open({ warn }), port, token) } : { password: byPassword };
  const client = await connect(port, auth);
  try {
    const { checks, summary } = await client.call('doctor.run', {}, { signal: AbortSignal.timeout(RUN_MS) });
    if (json) say(JSON.stringify({ checks, summary }));
    else {
      for (const check of [...checks].sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity))) say(textOf(check));
      say(`${summary.passed} well, ${count(summary.warnings, 'warning')}, ${count(summary.failed, 'fault')}`);
    }
    if (summary.failed > 0) process.exitCode = 1;
  } catch (error) {
    throw new CommandError(`the gateway could not be examined: ${lineOf(error)}`, 1, { cause: error });
  } finally {
    client.close();
  }
}

const ORDER: readonly DoctorCheck['severity'][] = ['critical', 'error', 'warning', 'info', 'ok'];

const textOf = ({ severity, title, message, fixHint }: DoctorCheck): string =>
  `${severity.padEnd(8)}  ${title}: ${message}${fixHint === undefined ? '' : `\n${' '.repeat(10)}→ ${fixHint}`}`;

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;

async function connect(port: number, auth: { token: string } | { password: string }): Promise<GatewayClient> {
  try {
    return await GatewayClient.connect(socketLink(new WebSocket(`ws://127.0.0.1:${port}/ws`)), {
      params: { clientName: 'perch doctor', auth },
      timeoutMs: CONNECT_MS,
    });
  } catch (error) {
    if (error instanceof RpcError) throw new CommandError(`the gateway on port ${port} refuses: ${lineOf(error)}`, 1, { cause: error });
    const what = lineOf(error);
    throw new CommandError(`no gateway answers on port ${port}${what ? ` (${what})` : ''}: start it with \`${startCommand(port)}\``, 1, {
      cause: error,
    });
  }
}
