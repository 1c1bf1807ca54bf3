import { UNFINISHED_RESULT } from '#shared/unfinished-result.ts';
import type { Citation, CitedSource } from '#shared/rpc/passage.ts';
import type { StoppedBudget } from '#shared/rpc/stopped-budget.ts';
import type { Compaction, HistoryMessage, Reasoning, RecalledMemory, Usage } from '#shared/rpc/record-schemas.ts';
import { type LinkPolicy, toLinkPolicy } from '../trust/composed-links.ts';
import { getMessageFiles, type MessageFile, getMessageText } from '../files/message-files.ts';

/** A tool that a reply used. `result` is what the gateway stored: text, often JSON. */
export interface ToolUse {
  id: string;
  tool: string;
  args: Record<string, unknown>;
  result: string | null;
  /** `pending`: the model is writing the call. */
  /** `unfinished`: the reply ended first. */
  state: 'pending' | 'running' | 'done' | 'error' | 'denied' | 'unfinished';
  /** Set if its result is too large for a history and has not been fetched. */
  leftOut?: { messageId: string; bytes: number };
}

/** A citation of a text. Without `quote` while the reply is written: its model named the source. */
type SegmentCitation = Pick<Citation, 'end' | 'number'> & { quote?: Citation['quote'] };

export type ReplySegment =
  | { kind: 'text'; text: string; links?: LinkPolicy | undefined; citations?: readonly SegmentCitation[]; sources?: readonly CitedSource[] }
  /** `ms` null: the model is still thinking. */
  | ({ kind: 'reasoning'; ms: number | null; links?: LinkPolicy | undefined } & Omit<Reasoning, 'ms'>)
  | { kind: 'tool'; use: ToolUse }
  | { kind: 'files'; files: MessageFile[] }
  /** A text that a history left out for its size. */
  | { kind: 'left-out'; messageId: string; bytes: number };

interface UserItem {
  kind: 'user';
  key: string;
  message: HistoryMessage;
}

/** One reply: all messages between two of the person. */
export interface ReplyItem {
  kind: 'reply';
  key: string;
  /** Ids of its messages. */
  ids: string[];
  /** Memories recalled for the reply. */
  recalled: readonly RecalledMemory[];
  segments: ReplySegment[];
  /** Outside sources that were read before it was written. */
  outside: readonly string[];
  /** Sources that the reply before it had not read. */
  read: readonly string[];
  timestamp: number;
  end: 'done' | 'aborted' | 'interrupted' | 'failed';
  model?: string | undefined;
  usage?: Usage | undefined;
  elapsedMs?: number | undefined;
  error?: { code: string; message: string; budget?: StoppedBudget | undefined } | undefined;
}

/** A line below which models see a summary instead of the earlier conversation. */
interface SummaryItem {
  kind: 'summary';
  key: string;
  compaction: Compaction;
}

/** Items of the message list, top to bottom. */
export type ChatItem = UserItem | ReplyItem | SummaryItem;

/** Text of a reply for copying. */
export function getReplyText(segments: readonly ReplySegment[]): string {
  return segments.flatMap((segment) => (segment.kind === 'text' && segment.text !== '' ? [segment.text] : [])).join('\n\n');
}

/** Text of a reply for copying, with omitted texts, which are fetched before. */
export async function loadReplyText(segments: () => readonly ReplySegment[], fetch: (messageId: string) => Promise<void>): Promise<string> {
  for (const segment of segments()) if (segment.kind === 'left-out') await fetch(segment.messageId);
  return getReplyText(segments());
}

/**
 * Groups the messages of a branch into items. `keys` maps the id of a reply's last message to its key while it streamed, so that its
 * element stays in place when the run ends.
 */
export function toChatItems(messages: readonly HistoryMessage[], keys: ReadonlyMap<string, string> = new Map()): ChatItem[] {
  const items: ChatItem[] = [];
  let group: HistoryMessage[] = [];
  /** Outside sources of the previous reply. */
  let previousOutside: readonly string[] = [];
  /** Adds the line of a summary; a reply around it is not split. */
  const addSummary = ({ id, compaction }: HistoryMessage): void => {
    if (compaction) items.push({ kind: 'summary', key: `summary:${id}`, compaction });
  };
  const flush = (): void => {
    const last = group.at(-1);
    group.slice(0, -1).forEach(addSummary);
    if (last) {
      const reply = toReplyItem(group, keys.get(last.id) ?? last.id, previousOutside);
      previousOutside = reply.outside;
      items.push(reply);
    }
    if (last) addSummary(last);
    group = [];
  };
  for (const message of messages) {
    if (message.role === 'system') continue;
    if (message.role === 'user') {
      flush();
      items.push({ kind: 'user', key: message.id, message });
      addSummary(message);
    } else {
      group.push(message);
      // An incomplete reply ends its group: a following one is another attempt.
      if (message.aborted || message.interrupted || message.error) flush();
    }
  }
  flush();
  return items;
}

function toReplyItem(group: readonly HistoryMessage[], key: string, previousOutside: readonly string[]): ReplyItem {
  const outside = [...new Set(group.flatMap((message) => message.outside ?? []))];
  const segments: ReplySegment[] = [];
  const uses = new Map<string, ToolUse>();
  for (const message of group) {
    if (message.role === 'tool') {
      const use = uses.get(message.toolCallId ?? '');
      const outcome = toToolOutcome(message);
      if (use) Object.assign(use, outcome);
      else segments.push({ kind: 'tool', use: { id: message.id, tool: message.name ?? 'tool', args: {}, ...outcome } });
      continue;
    }
    const policy = toLinkPolicy(message);
    const links = policy ? { links: policy } : {};
    if (message.reasoning) segments.push({ kind: 'reasoning', ...message.reasoning, ...links });
    const text = getMessageText(message);
    const { citations, sources } = message;
    if (text !== '') segments.push({ kind: 'text', text, ...links, ...(citations && sources ? { citations, sources } : {}) });
    if (message.leftOut?.text) segments.push({ kind: 'left-out', messageId: message.id, bytes: message.leftOut.bytes });
    const files = getMessageFiles(message);
    if (files.length > 0) segments.push({ kind: 'files', files });
    for (const call of message.toolCalls ?? []) {
      const use: ToolUse = { id: call.id, tool: call.tool, args: call.args, result: null, state: 'done' };
      uses.set(call.id, use);
      segments.push({ kind: 'tool', use });
    }
  }
  const last = group.at(-1);
  return {
    kind: 'reply',
    key,
    ids: group.map(({ id }) => id),
    recalled: group.find(({ recalled }) => recalled)?.recalled ?? [],
    segments,
    outside,
    read: outside.filter((source) => !previousOutside.includes(source)),
    timestamp: last?.timestamp ?? 0,
    end: last?.error ? 'failed' : last?.aborted ? 'aborted' : last?.interrupted ? 'interrupted' : 'done',
    model: last?.model,
    usage: last?.usage,
    elapsedMs: last?.elapsedMs,
    error: last?.error,
  };
}

/** Details that a tool's message adds to its call. */
function toToolOutcome(message: HistoryMessage): Pick<ToolUse, 'result' | 'state' | 'leftOut'> {
  const { id, leftOut } = message;
  if (leftOut?.text) return { result: null, state: 'done', leftOut: { messageId: id, bytes: leftOut.bytes } };
  const result = getMessageText(message);
  return { result, state: toToolState(result) };
}

/**
 * A failed tool returns an object with `error`, and `denied` if it was not allowed to run. A failed command is recognized by its request,
 * and a sub-agent that did not finish by its id.
 */
export function toToolState(result: string): 'done' | 'error' | 'denied' | 'unfinished' {
  if (result === UNFINISHED_RESULT) return 'unfinished';
  if (/^\s*\{\s*"requestId"\s*:\s*"[^"]*"\s*,\s*"status"\s*:\s*"failed"/.test(result)) return 'error';
  const [, subAgentStatus] = /^\{"id":"subagent-[^"]*","status":"(failed|stopped)"/.exec(result) ?? [];
  if (subAgentStatus !== undefined) return subAgentStatus === 'failed' ? 'error' : 'unfinished';
  if (!/^\s*\{\s*"error"\s*:/.test(result)) return 'done';
  return /,\s*"denied"\s*:\s*true\s*\}\s*$/.test(result) ? 'denied' : 'error';
}
