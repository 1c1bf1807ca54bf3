import type { DoctorCheck } from '#shared/rpc/methods/status.ts';
import { callOf, connect, type ConnectionOptions } from './connect.ts';
import { paint, say, sayJson, shown, type Style } from './output.ts';

const CONNECT_MS = 10_000;

export interface DoctorOptions extends ConnectionOptions {
  timeout: number;
  json?: boolean;
}

/** `perch doctor`: runs the gateway's diagnosis and prints the findings, problems first. Exit code 1 if there is a problem. */
export async function runDoctor({ json = false, ...options }: DoctorOptions): Promise<void> {
  const client = await connect({ ...options, name: 'perch doctor', timeoutMs: Math.min(CONNECT_MS, options.timeout) });
  try {
    const { checks, summary } = await callOf(client, 'doctor.run', {}, options.timeout);
    if (json) sayJson({ checks, summary });
    else {
      for (const check of [...checks].sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity))) say(textOf(check));
      say(`${summary.passed} passed, ${count(summary.warnings, 'warning')}, ${count(summary.failed, 'problem')}`);
    }
    if (summary.failed > 0) process.exitCode = 1;
  } finally {
    client.close();
  }
}

const ORDER: readonly DoctorCheck['severity'][] = ['critical', 'error', 'warning', 'info', 'ok'];

const STYLES: Record<DoctorCheck['severity'], Style> = {
  critical: ['bold', 'red'],
  error: 'red',
  warning: 'yellow',
  info: 'cyan',
  ok: 'green',
};

const textOf = ({ severity, title, message, fixHint }: DoctorCheck): string =>
  `${paint(STYLES[severity], severity.padEnd(8))}  ${shown(`${title}: ${message}`)}${fixHint === undefined ? '' : `\n${' '.repeat(10)}→ ${shown(fixHint)}`}`;

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;
