import type { DoctorCheck } from '#shared/rpc/methods/status-contracts.ts';
import { callGateway, connectGateway, type ConnectionOptions } from './connect-gateway.ts';
import { colorize, printLine, printJson, escapeControls, type TextStyle } from './terminal-output.ts';

const CONNECT_MS = 10_000;

interface DoctorOptions extends ConnectionOptions {
  timeout: number;
  json?: boolean;
}

/** `perch doctor`: runs the gateway's diagnosis and prints the findings, problems first. Exit code 1 if there is a problem. */
export async function runDoctor({ json = false, ...options }: DoctorOptions): Promise<void> {
  const client = await connectGateway({ ...options, name: 'perch doctor', timeoutMs: Math.min(CONNECT_MS, options.timeout) });
  try {
    const { checks, summary } = await callGateway(client, 'doctor.run', {}, options.timeout);
    if (json) printJson({ checks, summary });
    else {
      for (const check of [...checks].sort((a, b) => SEVERITY_ORDER.indexOf(a.severity) - SEVERITY_ORDER.indexOf(b.severity)))
        printLine(formatFinding(check));
      printLine(
        `${summary.passed} passed, ${formatFindingCount(summary.warnings, 'warning')}, ${formatFindingCount(summary.failed, 'problem')}`,
      );
    }
    if (summary.failed > 0) process.exitCode = 1;
  } finally {
    client.close();
  }
}

const SEVERITY_ORDER: readonly DoctorCheck['severity'][] = ['critical', 'error', 'warning', 'info', 'ok'];

const STYLES: Record<DoctorCheck['severity'], TextStyle> = {
  critical: ['bold', 'red'],
  error: 'red',
  warning: 'yellow',
  info: 'cyan',
  ok: 'green',
};

const formatFinding = ({ severity, title, message, fixHint }: DoctorCheck): string =>
  `${colorize(STYLES[severity], severity.padEnd(8))}  ${escapeControls(`${title}: ${message}`)}${fixHint === undefined ? '' : `\n${' '.repeat(10)}→ ${escapeControls(fixHint)}`}`;

const formatFindingCount = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
