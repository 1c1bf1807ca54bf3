import { parseJson } from '#shared/parse-json.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Pace } from '../../../knowledge/dreaming/pace.ts';
import { toPlainText } from '../../../storage/session-views.ts';
import { getMessageSources } from '../../trust/content-sources.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import type { MessageRecord } from '../../../storage/chat-records.ts';

/** A memory recalled for a query. */
interface RecalledMemory {
  text: string;
  /** Source as reported by the memory. */
  source: string;
  /** From 0 to 1, if the search reported it. */
  score?: number | undefined;
  tags: string[];
}

/** A message for which memory was searched. */
interface RecallMessage {
  id: string;
  /** Milliseconds since the Unix epoch. */
  at: number;
  query: string;
  memories: RecalledMemory[];
}

const SEARCH_TOOL = 'memory_search';
/** Number of messages read at once. */
const PAGE_SIZE = 200;
/** Maximum number of messages between a reply and its question, such as tool calls. */
const MAX_STEPS = 60;

const searchOutput = z.object({
  results: z.array(
    z.looseObject({
      text: z.string(),
      path: z.string().optional(),
      lines: z.string().optional(),
      source: z.string().optional(),
      category: z.string().optional(),
      coverage: z.number().optional(),
    }),
  ),
});

/**
 * Memories recalled in stored messages from a given time on: those given to a model before its reply (attributed to the user's message),
 * and results of a model's own searches. `includesSession` tells which sessions count.
 */
export async function findRecallMessages(
  messages: Pick<Vault['messages'], 'listFrom' | 'get'>,
  { from, belongs: includesSession, pace }: { from: number; belongs: (sessionKey: string) => boolean; pace: Pace },
): Promise<RecallMessage[]> {
  const recalling: RecallMessage[] = [];
  const seen = new Map<string, MessageRecord>();
  let since = from;
  let limit = PAGE_SIZE;
  for (;;) {
    const page = await messages.listFrom(since, limit);
    const fresh = page.filter(({ id }) => !seen.has(id));
    for (const message of fresh) seen.set(message.id, message);
    for (const message of fresh) {
      await pace();
      // Memories recalled in a tainted run may be waiting for review and must not be promoted before that.
      if (!includesSession(message.sessionKey) || getMessageSources(message).length > 0) continue;
      const recall = await toRecallMessage(message, async (id) => seen.get(id) ?? (await messages.get(id)));
      if (recall && recall.memories.length > 0 && recall.query !== '') recalling.push(recall);
    }
    if (page.length < limit) return recalling;
    // More messages than a page holds may have the same timestamp.
    const last = page.at(-1)?.timestamp ?? since;
    limit = last === since && fresh.length === 0 ? limit * 2 : PAGE_SIZE;
    since = last;
  }
}

type GetMessage = (id: string) => Promise<MessageRecord | undefined>;

async function toRecallMessage(message: MessageRecord, get: GetMessage): Promise<RecallMessage | undefined> {
  const { id, timestamp, role, recalled, name } = message;
  if (role === 'assistant' && recalled) {
    const user = await findAncestor(message, get, (ancestor) => ancestor.role === 'user');
    const pieces = recalled.map(({ text, source, category, relevance }) => ({
      text,
      source,
      score: relevance,
      tags: category === undefined ? [] : [category],
    }));
    return { id, at: timestamp, query: user ? toPlainText(user.content).trim() : '', memories: pieces };
  }
  if (role !== 'tool' || name !== SEARCH_TOOL) return undefined;
  const caller = await findAncestor(
    message,
    get,
    (ancestor) => ancestor.toolCalls?.some((call) => call.id === message.toolCallId) === true,
  );
  const query = caller?.toolCalls?.find((call) => call.id === message.toolCallId)?.args.query;
  return { id, at: timestamp, query: typeof query === 'string' ? query.trim() : '', memories: parseResults(toPlainText(message.content)) };
}

async function findAncestor(
  message: MessageRecord,
  get: GetMessage,
  matches: (message: MessageRecord) => boolean,
): Promise<MessageRecord | undefined> {
  let ancestor: MessageRecord | undefined = message;
  for (let steps = 0; ancestor && steps < MAX_STEPS; steps++) {
    ancestor = ancestor.parentId === null ? undefined : await get(ancestor.parentId);
    if (ancestor && matches(ancestor)) return ancestor;
  }
  return undefined;
}

/** Results returned by a search; empty if it failed. */
function parseResults(content: string): RecalledMemory[] {
  let value: unknown;
  try {
    value = parseJson(content);
  } catch {
    return [];
  }
  const { success, data } = searchOutput.safeParse(value);
  if (!success) return [];
  return data.results.map(({ text, path, lines, source, category, coverage }) => ({
    text,
    source: path === undefined ? (source ?? 'remembered') : `${path}${lines === undefined ? '' : `#L${lines.replace('-', '-L')}`}`,
    score: coverage,
    tags: category === undefined ? [] : [category],
  }));
}
