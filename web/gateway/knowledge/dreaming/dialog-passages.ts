import { z } from '#shared/rpc/zod.ts';
import { getText } from '../memory/memory-message.ts';
import { splitBlocks, type BrokenLine, parseJsonLines } from './json-lines.ts';
import { type Pace, noPace } from './pace.ts';
import { type Passage, parsePassages } from './parse-passages.ts';

/** A passage of a conversation. */
interface DialogPassage extends Passage {
  role: 'user' | 'assistant' | 'tool' | 'system';
  /** Milliseconds since the Unix epoch, if the record contains a time. */
  at?: number | undefined;
}

const dialogRecord = z.looseObject({
  session_key: z.string().default(''),
  role: z.enum(['user', 'assistant', 'tool', 'system']),
  name: z.string().nullish().catch(undefined),
  // Images and the like have no text; a reply that only calls tools may have no content.
  content: z
    .union([
      z.string(),
      z
        .array(z.looseObject({ type: z.string(), text: z.string().optional() }))
        .transform((parts) =>
          getText({ content: parts.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? { type, text } : [])) }),
        ),
    ])
    .nullish(),
  timestamp: z
    .union([z.number(), z.string().transform((text) => Date.parse(text))])
    .nullish()
    .catch(undefined),
});

/**
 * Memory search tool. Its results are stored elsewhere in the memory under their own sources, so that quoting them does not make them
 * untrusted.
 */
const SEARCH_TOOL = 'memory_search';
const AFTER_TOOLS_REASON = 'the reply was based on tool results';

/** The passages of a dialog file (`dialog/<date>.jsonl`), with the line numbers of the file. */
export async function parseDialogPassages(
  file: string,
  path: string,
  pace: Pace = noPace,
): Promise<{ passages: DialogPassage[]; broken: BrokenLine[] }> {
  const passages: DialogPassage[] = [];
  const broken: BrokenLine[] = [];
  /** Sessions whose current turn has tool results; a day's file interleaves the lines of all sessions. */
  const afterTools = new Set<string>();
  for await (const { block, first } of splitBlocks(file, pace)) {
    const read = parseJsonLines(block, dialogRecord, path, first);
    broken.push(...read.broken.map(({ path, line, why }) => ({ path, line, why })));
    for (const { line, value } of read.values) {
      const { session_key: session, role, name, content, timestamp } = value;
      if (role === 'user') afterTools.delete(session);
      if (role === 'tool') afterTools.add(session);
      if (role === 'tool' && name === SEARCH_TOOL) continue;
      const others = role === 'tool' ? 'it comes from a tool result' : role === 'system' ? 'it is a system instruction' : undefined;
      const at = timestamp != null && timestamp >= 0 ? timestamp : undefined;
      for (const { text, untrusted } of parsePassages(content ?? ''))
        passages.push({
          text,
          line,
          role,
          at,
          untrusted: others ?? untrusted ?? (role === 'assistant' && afterTools.has(session) ? AFTER_TOOLS_REASON : undefined),
        });
    }
  }
  return { passages, broken };
}
