import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayClient } from '#shared/client/client.ts';
import { isAtLeast, type LogLevel, MAX_LOG_LINES } from '#shared/rpc/log-level.ts';
import type { LogLine } from '#shared/rpc/methods/log-contracts.ts';
import { callGateway, connectGateway, type ConnectionOptions } from './connect-gateway.ts';
import { CommandError } from './command-error.ts';
import { printNote, colorize, printLine, printJson, escapeToOneLine, type TextStyle } from './terminal-output.ts';

interface LogsOptions extends ConnectionOptions {
  timeout: number;
  follow?: boolean;
  lines: number;
  level?: LogLevel;
  json?: boolean;
}

const POLL_MS = 1_000;

/**
 * `perch logs`: prints the newest lines of the log. With `follow`, continues with new ones until a signal, across restarts of the gateway.
 */
export async function printLogs({ follow = false, lines, level, json = false, ...options }: LogsOptions): Promise<void> {
  const reader = new LogReader(options, !json);
  const isShown = (line: LogLine): boolean => level === undefined || isAtLeast(line.level, level);
  const print = (found: readonly LogLine[]): void => found.forEach((line) => (json ? printJson(line) : printLine(formatLogLine(line))));
  // A signal that ends `follow` is not a failure.
  if (follow) for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
  // Filtered lines have to be read first.
  const first = await reader.read(level === undefined ? lines : MAX_LOG_LINES);
  print(first.filter(isShown).slice(-lines));
  while (follow) {
    await sleep(POLL_MS);
    print((await reader.readNew()).filter(isShown));
  }
  reader.close();
}

/** Reads the log, continuing after the last line read. */
class LogReader {
  readonly #options: ConnectionOptions & { timeout: number };
  readonly #localTime: boolean;
  #client: GatewayClient | undefined;
  #cursor: string | undefined;
  #isLost = false;

  constructor(options: ConnectionOptions & { timeout: number }, localTime: boolean) {
    this.#options = options;
    this.#localTime = localTime;
  }

  /** Reads the first `limit` lines after the last one read; initially the newest ones. */
  async read(limit: number): Promise<LogLine[]> {
    const { timeout } = this.#options;
    this.#client ??= await connectGateway({ ...this.#options, name: 'perch logs', timeoutMs: timeout });
    const cursor = this.#cursor === undefined ? {} : { cursor: this.#cursor };
    const answer = await callGateway(this.#client, 'logs.tail', { limit, json: true, localTime: this.#localTime, ...cursor }, timeout);
    this.#cursor = answer.cursor;
    return answer.lines.filter((line) => typeof line === 'object');
  }

  /** Reads all lines since; none while the gateway is unreachable. */
  async readNew(): Promise<LogLine[]> {
    const found: LogLine[] = [];
    try {
      let newLines: LogLine[];
      do found.push(...(newLines = await this.read(MAX_LOG_LINES)));
      while (newLines.length === MAX_LOG_LINES);
      this.#isLost = false;
    } catch (error) {
      if (!(error instanceof CommandError) || error.exitCode === 2) throw error;
      if (!this.#isLost) printNote(`${escapeToOneLine(error.message.replace(/\.$/, ''))}. Retrying…`);
      this.#isLost = true;
      this.close();
    }
    return found;
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
  }
}

const LEVEL_STYLES: Record<LogLevel, TextStyle> = { debug: 'dim', info: 'cyan', warn: 'yellow', error: 'red' };

function formatLogLine({ time, level, component, message, fields }: LogLine): string {
  const truncatedNote =
    fields === undefined || Object.keys(fields).length === 0 ? '' : ` ${colorize('dim', escapeToOneLine(JSON.stringify(fields)))}`;
  return `${colorize('dim', time)} ${colorize(LEVEL_STYLES[level], level.padEnd(5))} ${escapeToOneLine(component)}: ${escapeToOneLine(message)}${truncatedNote}`;
}
