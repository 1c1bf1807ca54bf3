import { z } from '#shared/rpc/zod.ts';
import type { ShortTermSignal } from './signal.ts';

export const MAX_CONTENT_CHARS = 4000;
const MAX_TAGS = 32;
const count = z.number().int().min(0);
const day = z.string().regex(/^\d{4}-\d\d-\d\d$/);
/** Milliseconds since the Unix epoch, within the range of `Date`. */
const instant = z.number().min(0).max(8_640_000_000_000_000);

const line = z.looseObject({
  content: z.string().min(1).max(MAX_CONTENT_CHARS),
  source_ref: z.string().max(1000),
  query: z.string().default(''),
  tags: z.array(z.string()).default([]),
  content_hash: z.string().regex(/^[0-9a-f]{64}$/),
  created_at: instant,
  recall_count: count.default(0),
  recalls: z.array(z.object({ query: z.string(), day, score: z.number().min(0).max(1), at: instant })).default([]),
  consolidations: count.default(0),
  consolidation_days: z.array(day).default([]),
  untrusted: z.string().optional(),
});

/** A line of the signals file: the complete state of a signal, in snake_case. The last line of a content counts. */
export const signalLine = line.transform((read): ShortTermSignal => ({
  content: read.content,
  sourceRef: read.source_ref,
  query: read.query,
  tags: read.tags,
  contentHash: read.content_hash,
  createdAt: read.created_at,
  recallCount: Math.max(read.recall_count, read.recalls.length),
  recalls: read.recalls,
  consolidations: read.consolidations,
  consolidationDays: read.consolidation_days,
  ...(read.untrusted !== undefined && { untrusted: read.untrusted }),
}));

/** Formats a line, with its line break. */
export function formatSignal(signal: ShortTermSignal): string {
  const written: z.input<typeof line> = {
    content: signal.content,
    source_ref: signal.sourceRef,
    query: signal.query,
    tags: signal.tags,
    content_hash: signal.contentHash,
    created_at: signal.createdAt,
    recall_count: signal.recallCount,
    recalls: signal.recalls,
    consolidations: signal.consolidations,
    consolidation_days: signal.consolidationDays,
    untrusted: signal.untrusted,
  };
  return `${JSON.stringify(written)}\n`;
}

/** Distinct tags, trimmed. */
export const mergeTags = (...tagLists: (readonly string[])[]): string[] =>
  [...new Set(tagLists.flat().map((tag) => tag.trim().slice(0, 100)))].filter((tag) => tag !== '').slice(0, MAX_TAGS);
