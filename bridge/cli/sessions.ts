import { open } from 'node:fs/promises';
import { callOf, connect, type ConnectionOptions } from './connect.ts';
import { CommandError, lineOf } from './errors.ts';
import { escapeJson, say, sayJson, shown, table } from './output.ts';

export interface SessionsOptions extends ConnectionOptions {
  timeout: number;
  agent?: string;
  limit: number;
  json?: boolean;
}

/** `perch sessions`: lists sessions, the most recently used first. */
export async function printSessions({ agent, limit, json = false, ...options }: SessionsOptions): Promise<void> {
  const client = await connect({ ...options, name: 'perch sessions', timeoutMs: options.timeout });
  try {
    const { sessions, total } = await callOf(
      client,
      'sessions.list',
      { limit, ...(agent === undefined ? {} : { agentId: agent }) },
      options.timeout,
    );
    if (json) return sayJson({ sessions, total });
    if (total === 0) return say('No chats yet');
    const lines = table(
      [
        { title: 'Chat', style: () => 'cyan', isFlexible: true },
        { title: 'Last used', style: () => 'dim' },
        { title: 'Messages', align: 'right' },
        { title: 'Title', isFlexible: true },
      ],
      sessions.map(({ path, updatedAt, messageCount, title }) => [keyOf(path), dateOf(updatedAt), String(messageCount), title]),
    );
    for (const line of lines) say(line);
    if (total > sessions.length) say(`${total - sessions.length} more. Use --limit to show them.`);
  } finally {
    client.close();
  }
}

export interface ExportOptions extends ConnectionOptions {
  timeout: number;
  format: 'jsonl' | 'markdown';
  output?: string;
  /** Print control characters unchanged. */
  raw?: boolean;
}

/** `perch sessions export KEY`: writes a session as text to standard output or a new file. */
export async function exportSession(key: string, { format, output, raw = false, ...options }: ExportOptions): Promise<void> {
  const client = await connect({ ...options, name: 'perch sessions', timeoutMs: options.timeout });
  try {
    const path = pathOf(key);
    let part = await callOf(client, 'sessions.export', { path, format }, options.timeout);
    const file = output === undefined ? undefined : await newFile(output);
    try {
      for (;;) {
        if (file) await file.write(part.content);
        else process.stdout.write(raw ? part.content : format === 'jsonl' ? escapeJson(part.content) : shown(part.content));
        if (part.cursor === null) break;
        part = await callOf(client, 'sessions.export', { path, format, cursor: part.cursor }, options.timeout);
      }
    } finally {
      await file?.close();
    }
  } finally {
    client.close();
  }
}

const newFile = (path: string): ReturnType<typeof open> =>
  open(path, 'wx', 0o600).catch((error: unknown) => {
    throw new CommandError(`--output: ${lineOf(error)}`, 1, { cause: error });
  });

/** Key of a session's path: `main/work` for `main/work.jsonl`, as listed; `--session` takes the second half. */
export const keyOf = (path: string): string => path.replace(/\.jsonl$/, '');
/** Path of the session with a key: `work` belongs to the agent `main`. */
export const pathOf = (key: string): string => `${key.includes('/') ? keyOf(key) : `main/${keyOf(key)}`}.jsonl`;

/** In local time: `2026-11-22 07:04`. */
const dateOf = (at: number): string => {
  const date = new Date(at);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
};
