import { withMarkers } from '#shared/citations/with-markers.ts';
import type { CitedSource } from '#shared/rpc/passage.ts';
import { formatIssue } from '#shared/rpc/format-issue.ts';
import { type ModelParameters, readModelParameters } from '#shared/rpc/model-parameters.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { type HistoryMessage, historyMessage } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import { SPEAKERS, escapeHeadings } from './markdown-chat.ts';
import { toPlainText } from '../../storage/session-views.ts';
import type { MessageRecord, SessionRecord } from '../../storage/chat-records.ts';

/** Messages in the order of an export: the active branch last, so that the text ends with it. */
export function sortForExport(messages: readonly MessageRecord[], headId: string | null): MessageRecord[] {
  const active = new Set(getActiveBranch(messages, headId));
  return [...messages.filter((message) => !active.has(message)), ...active];
}

/** The branch that ends in `headId`, from its root. */
export function getActiveBranch(messages: readonly MessageRecord[], headId: string | null): MessageRecord[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const branch: MessageRecord[] = [];
  for (let message = byId.get(headId ?? ''); message; message = byId.get(message.parentId ?? '')) branch.push(message);
  return branch.reverse();
}

/** A message as Markdown, for people to read. */
export function toMarkdown(message: MessageRecord): string {
  const { role, content, model, toolCalls = [], name, attachments = [], reasoning, citations = [], sources = [] } = message;
  const more = { user: '', assistant: model === undefined ? '' : `(${model})`, system: '', tool: name ?? '' }[role];
  const text = escapeHeadings(withMarkers(toPlainText(content), citations, (number) => `[^${number}]`));
  const parts = [
    `## ${SPEAKERS[role]} ${more}`.trim(),
    reasoning && `> **Thought for ${Math.ceil(reasoning.ms / 1000)} s**\n>\n${escapeHeadings(reasoning.text).replace(/^/gm, '> ')}`,
    role === 'tool' ? toCodeFence(text, 'json') : text,
    ...toolCalls.map(({ tool, args }) => `Calls \`${tool}\`:\n\n${toCodeFence(JSON.stringify(args, null, 2), 'json')}`),
    sources.map(toFootnote).join('\n'),
    ...attachments.map(({ filename, mimeType, size }) => `Attached: ${filename} (${mimeType}, ${size} bytes)`),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n\n`;
}

/** A cited source as a footnote: its title, the place in it and its address. */
function toFootnote({ number, title, path, url, locator = { start: 0, end: 0 } }: CitedSource): string {
  const { page, sheet, headings = [], line } = locator;
  const place = [page && `page ${page}`, sheet, headings.join(' › '), line && `line ${line}`].filter(Boolean).join(', ');
  const parts = [title, path === title ? '' : path, place, url === undefined ? '' : `<${url}>`].filter(Boolean);
  return `[^${number}]: ${parts.join(', ').replace(/\s+/g, ' ')}`;
}

/** Wraps text in a code fence longer than any inside it. */
function toCodeFence(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/**
 * Reads an export. Throws `INVALID_PARAMS`, with the line number in the message and in the details, for the first line that is not a
 * message, or whose parent is missing.
 */
export function parseJsonLines(text: string): HistoryMessage[] {
  const messages: HistoryMessage[] = [];
  const lines = new Map<string, number>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const createError = (problem: string): RpcError => createLineError(index + 1, problem);
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw createError('invalid JSON');
    }
    const { data, error } = historyMessage.safeParse(value);
    if (!data) throw createError(`invalid message: ${formatIssue(error.issues[0], 'it')}`);
    if (lines.has(data.id)) throw createError(`duplicate id of line ${lines.get(data.id)}`);
    lines.set(data.id, index + 1);
    messages.push(data);
  }
  if (messages.length === 0) throw new RpcError('INVALID_PARAMS', '`content` has no messages.');
  for (const { id, parentId } of messages) {
    if (parentId != null && !lines.has(parentId)) throw createLineError(lines.get(id), 'its parent message is missing');
  }
  return messages;
}

/** The session's parameters in a valid export, without instructions: the file may come from anybody. */
export function readExportedParameters(text: string): ModelParameters | undefined {
  const [first = '{}'] = text.trimStart().split('\n', 1);
  const { sessionParameters } = z.object({ sessionParameters: z.unknown().optional() }).parse(JSON.parse(first));
  const { instructions: _, ...parameters } = readModelParameters(sessionParameters) ?? {};
  return readModelParameters(parameters);
}

const createLineError = (line: number | undefined, problem: string): RpcError =>
  new RpcError('INVALID_PARAMS', `Line ${line} of \`content\`: ${problem}.`, { details: { line } });

/** A message with its place in a branch, from an export or from another session of the vault. */
export type CopiedMessage = HistoryMessage | Omit<MessageRecord, 'sessionKey' | 'depth' | 'runId'>;

/** Copies messages to another session under new ids. Throws `INVALID_PARAMS` if their parents form a cycle. */
export function copyMessages(messages: readonly CopiedMessage[], { key }: Pick<SessionRecord, 'key'>): MessageRecord[] {
  const ids = new Map(messages.map(({ id }) => [id, crypto.randomUUID()]));
  const parents = new Map(messages.map(({ id, parentId }) => [id, parentId ?? null]));
  const depths = new Map<string, number>();
  const getDepth = (id: string): number => {
    const path: string[] = [];
    let ancestorId: string | null = id;
    while (ancestorId !== null && !depths.has(ancestorId)) {
      path.push(ancestorId);
      if (path.length > messages.length) throw new RpcError('INVALID_PARAMS', 'The messages in `content` form a cycle.');
      ancestorId = parents.get(ancestorId) ?? null;
    }
    let depth = ancestorId === null ? -1 : (depths.get(ancestorId) ?? 0);
    for (const descendantId of path.reverse()) depths.set(descendantId, ++depth);
    return depth;
  };
  return messages.map((message) => ({
    ...message,
    id: ids.get(message.id) ?? '',
    parentId: ids.get(message.parentId ?? '') ?? null,
    depth: getDepth(message.id),
    sessionKey: key,
  }));
}
