import { open } from 'node:fs/promises';
import { callGateway, connectGateway, type ConnectionOptions } from './connect-gateway.ts';
import { CommandError, toErrorLine } from './command-error.ts';
import { escapeJson, printLine, printJson, escapeControls, formatTable } from './terminal-output.ts';

interface SessionsOptions extends ConnectionOptions {
  timeout: number;
  agent?: string;
  limit: number;
  json?: boolean;
}

/** `perch sessions`: lists sessions, the most recently used first. */
export async function printSessions({ agent, limit, json = false, ...options }: SessionsOptions): Promise<void> {
  const client = await connectGateway({ ...options, name: 'perch sessions', timeoutMs: options.timeout });
  try {
    const { sessions, total } = await callGateway(
      client,
      'sessions.list',
      { limit, ...(agent === undefined ? {} : { agentId: agent }) },
      options.timeout,
    );
    if (json) return printJson({ sessions, total });
    if (total === 0) return printLine('No chats yet');
    const lines = formatTable(
      [
        { title: 'Chat', style: () => 'cyan', isFlexible: true },
        { title: 'Last used', style: () => 'dim' },
        { title: 'Messages', align: 'right' },
        { title: 'Title', isFlexible: true },
      ],
      sessions.map(({ path, updatedAt, messageCount, title }) => [toSessionKey(path), formatDate(updatedAt), String(messageCount), title]),
    );
    for (const line of lines) printLine(line);
    if (total > sessions.length) printLine(`${total - sessions.length} more. Use --limit to show them.`);
  } finally {
    client.close();
  }
}

interface ExportSessionOptions extends ConnectionOptions {
  timeout: number;
  format: 'jsonl' | 'markdown';
  output?: string;
  /** Print control characters unchanged. */
  raw?: boolean;
}

/** `perch sessions export KEY`: writes a session as text to standard output or a new file. */
export async function exportSession(key: string, { format, output, raw = false, ...options }: ExportSessionOptions): Promise<void> {
  const client = await connectGateway({ ...options, name: 'perch sessions', timeoutMs: options.timeout });
  try {
    const path = toSessionPath(key);
    let part = await callGateway(client, 'sessions.export', { path, format }, options.timeout);
    const file = output === undefined ? undefined : await writeExport(output);
    try {
      for (;;) {
        if (file) await file.write(part.content);
        else process.stdout.write(raw ? part.content : format === 'jsonl' ? escapeJson(part.content) : escapeControls(part.content));
        if (part.cursor === null) break;
        part = await callGateway(client, 'sessions.export', { path, format, cursor: part.cursor }, options.timeout);
      }
    } finally {
      await file?.close();
    }
  } finally {
    client.close();
  }
}

const writeExport = (path: string): ReturnType<typeof open> =>
  open(path, 'wx', 0o600).catch((error: unknown) => {
    throw new CommandError(`--output: ${toErrorLine(error)}`, 1, { cause: error });
  });

/** Key of a session's path: `main/work` for `main/work.jsonl`, as listed; `--session` takes the second half. */
export const toSessionKey = (path: string): string => path.replace(/\.jsonl$/, '');
/** Path of the session with a key: `work` belongs to the agent `main`. */
export const toSessionPath = (key: string): string => `${key.includes('/') ? toSessionKey(key) : `main/${toSessionKey(key)}`}.jsonl`;

/** In local time: `2026-11-22 07:04`. */
const formatDate = (at: number): string => {
  const date = new Date(at);
  const padTwoDigits = (number: number): string => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${padTwoDigits(date.getMonth() + 1)}-${padTwoDigits(date.getDate())} ${padTwoDigits(date.getHours())}:${padTwoDigits(date.getMinutes())}`;
};
