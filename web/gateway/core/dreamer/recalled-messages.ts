import { parseJson } from '#shared/parse-json.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Pace } from '../dreaming/pace.ts';
import { plainText } from '../sessions.ts';
import { getMessageSources } from '../trust/sources.ts';
import type { MessageRecord, Vault } from '../vault.ts';

/** A memory recalled for a query. */
export interface RecalledPiece {
  text: string;
  /** Source as reported by the memory. */
  source: string;
  /** From 0 to 1, if the search reported it. */
  score?: number | undefined;
  tags: string[];
}

/** A message for which memory was searched. */
export interface RecallingMessage {
  id: string;
  /** Milliseconds since the Unix epoch. */
  at: number;
  query: string;
  pieces: RecalledPiece[];
}

const SEARCH_TOOL = 'memory_search';
/** Number of messages read at once. */
const PAGE = 200;
/** Maximum number of messages between a reply and its question, such as tool calls. */
const MOST_STEPS = 60;

const found = z.object({
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
 * and results of a model's own searches. `belongs` tells which sessions count.
 */
export async function recallingMessages(
  messages: Pick<Vault['messages'], 'from' | 'get'>,
  { from, belongs, pace }: { from: number; belongs: (sessionKey: string) => boolean; pace: Pace },
): Promise<RecallingMessage[]> {
  const recalling: RecallingMessage[] = [];
  const seen = new Map<string, MessageRecord>();
  let at = from;
  let limit = PAGE;
  for (;;) {
    const page = await messages.from(at, limit);
    const fresh = page.filter(({ id }) => !seen.has(id));
    for (const message of fresh) seen.set(message.id, message);
    for (const message of fresh) {
      await pace();
      // Memories recalled in a tainted run may be waiting for review and must not be promoted before that.
      if (!belongs(message.sessionKey) || getMessageSources(message).length > 0) continue;
      const asked = await recallOf(message, async (id) => seen.get(id) ?? (await messages.get(id)));
      if (asked && asked.pieces.length > 0 && asked.query !== '') recalling.push(asked);
    }
    if (page.length < limit) return recalling;
    // More messages than a page holds may have the same timestamp.
    const last = page.at(-1)?.timestamp ?? at;
    limit = last === at && fresh.length === 0 ? limit * 2 : PAGE;
    at = last;
  }
}

type Get = (id: string) => Promise<MessageRecord | undefined>;

async function recallOf(message: MessageRecord, get: Get): Promise<RecallingMessage | undefined> {
  const { id, timestamp, role, recalled, name } = message;
  if (role === 'assistant' && recalled) {
    const user = await above(message, get, (each) => each.role === 'user');
    const pieces = recalled.map(({ text, source, category, relevance }) => ({
      text,
      source,
      score: relevance,
      tags: category === undefined ? [] : [category],
    }));
    return { id, at: timestamp, query: user ? plainText(user.content).trim() : '', pieces };
  }
  if (role !== 'tool' || name !== SEARCH_TOOL) return undefined;
  const caller = await above(message, get, (each) => each.toolCalls?.some((call) => call.id === message.toolCallId) === true);
  const query = caller?.toolCalls?.find((call) => call.id === message.toolCallId)?.args.query;
  return { id, at: timestamp, query: typeof query === 'string' ? query.trim() : '', pieces: resultsIn(plainText(message.content)) };
}

async function above(message: MessageRecord, get: Get, fits: (message: MessageRecord) => boolean): Promise<MessageRecord | undefined> {
  let at: MessageRecord | undefined = message;
  for (let steps = 0; at && steps < MOST_STEPS; steps++) {
    at = at.parentId === null ? undefined : await get(at.parentId);
    if (at && fits(at)) return at;
  }
  return undefined;
}

/** Results returned by a search; empty if it failed. */
function resultsIn(content: string): RecalledPiece[] {
  let given: unknown;
  try {
    given = parseJson(content);
  } catch {
    return [];
  }
  const { success, data } = found.safeParse(given);
  if (!success) return [];
  return data.results.map(({ text, path, lines, source, category, coverage }) => ({
    text,
    source: path === undefined ? (source ?? 'remembered') : `${path}${lines === undefined ? '' : `#L${lines.replace('-', '-L')}`}`,
    score: coverage,
    tags: category === undefined ? [] : [category],
  }));
}
