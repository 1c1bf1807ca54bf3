import { z } from '#shared/rpc/zod.ts';
import { sha256 } from '#shared/sha256.ts';
import { formatMemory, MemoryCategory, type MemoryLine, parseMemories, removeBlock, replaceBlock } from '../../memory/long-term.ts';
import { startOnNewLine } from '../json-lines.ts';
import { normalizeText } from '../signal.ts';

const memoryLine = z.object({ text: z.string(), category: z.enum(MemoryCategory), createdAt: z.number() });
const count = z.number().int().min(0);

/** Results of the questions that a change touches: right answers and tokens of recall, before and with it. */
const trialResult = z.object({ questions: count, rightBefore: count, rightAfter: count, tokensBefore: count, tokensAfter: count });
export type TrialResult = z.output<typeof trialResult>;

export const memoryChange = z.object({
  id: z.string().regex(/^[0-9a-f]{64}$/),
  /**
   * `update`: a later statement replaces it. `retire`: memory already has the later statement. `merge`: another memory says the same.
   * `shorten`: words that state nothing are removed. `promote`: a new memory.
   */
  kind: z.enum(['update', 'retire', 'merge', 'shorten', 'promote']),
  /**
   * `proposed`: waits for a person. `applying` is logged before writing to memory and `applied` after it, so that an interrupted change can
   * be completed. `turned_down`: the exam did not improve.
   */
  state: z.enum(['proposed', 'applying', 'applied', 'undone', 'dismissed', 'turned_down']),
  removed: z.array(memoryLine),
  added: z.array(memoryLine),
  /** For a merge: the memory that says the same and stays. */
  duplicateOf: z.string().optional(),
  /** Source of an added text that was not in memory; empty otherwise. */
  sourceRef: z.string(),
  trial: trialResult,
  /** When it entered this state, in milliseconds since the Unix epoch. */
  at: z.number().min(0).max(8_640_000_000_000_000),
});

/** A change of the long-term memory that the exam has tried. */
export type MemoryChange = z.output<typeof memoryChange>;

/** A change before its trial. */
export type CandidateChange = Pick<MemoryChange, 'id' | 'kind' | 'removed' | 'added' | 'duplicateOf' | 'sourceRef'>;

export async function createChange({
  kind,
  removed,
  added,
  duplicateOf,
  sourceRef = '',
}: Omit<CandidateChange, 'id' | 'sourceRef'> & { sourceRef?: string }): Promise<CandidateChange> {
  const toLine = ({ text, category, createdAt }: MemoryLine): MemoryLine => ({ text, category, createdAt });
  const id = await sha256(JSON.stringify([kind, removed.map(({ text }) => text), added.map(({ text }) => text)]));
  const duplicate = duplicateOf === undefined ? {} : { duplicateOf };
  return { id, kind, removed: removed.map(toLine), added: added.map(toLine), ...duplicate, sourceRef };
}

/**
 * Returns the long-term file with some memories replaced by others, in place; undefined if nothing changes. Memories that are already gone
 * or already present are skipped, so that a repeated call changes nothing.
 */
export function editMemories(
  file: string,
  { removed, added }: { removed: readonly MemoryLine[]; added: readonly MemoryLine[] },
): string | undefined {
  const toKey = ({ text }: MemoryLine): string => normalizeText(text);
  const isMemory = new Set(removed.map(toKey));
  const blocks = parseMemories(file).flatMap((block) => (block.kind === 'memory' ? block : []));
  const staying = new Set(blocks.map(({ memory }) => toKey(memory)).filter((key) => !isMemory.has(key)));
  const lines = added.filter((line) => !staying.has(toKey(line))).map(formatMemory);
  const [first, ...others] = blocks.filter(({ memory }) => isMemory.has(toKey(memory)));
  // Last to first, so that earlier line numbers stay valid.
  const rest = others.reduceRight(removeBlock, file);
  const edited = first ? replaceBlock(rest, first, lines.join('')) : rest + (lines.length > 0 ? startOnNewLine(rest, lines.join('')) : '');
  return edited === file ? undefined : edited;
}

/** Whether all memories that a change removes still exist. */
export function canApply(file: string, { removed }: Pick<MemoryChange, 'removed'>): boolean {
  const present = new Set(parseMemories(file).flatMap((block) => (block.kind === 'memory' ? normalizeText(block.memory.text) : [])));
  return removed.every(({ text }) => present.has(normalizeText(text)));
}
