import { z } from '#shared/rpc/zod.ts';
import { MemoryCategory } from '../memory/long-term.ts';
import type { Workspace } from '../memory/workspace.ts';
import { type BrokenLine, startOnNewLine, parseJsonLines } from './json-lines.ts';

export const PROMOTIONS_FILE = '.dreams/promotions.jsonl';
const share = z.number().min(0).max(1);

const promotionLine = z.object({
  /** `promoting` is logged before writing to memory and `promoted` after it, so that an interrupted promotion can be completed. */
  state: z.enum(['proposed', 'promoting', 'promoted', 'rejected']),
  content_hash: z.string().regex(/^[0-9a-f]{64}$/),
  content: z.string(),
  /** Text written instead of the content, if a user has edited it. */
  text: z.string().optional(),
  category: z.enum(MemoryCategory),
  source_ref: z.string(),
  created_at: z.number(),
  score: share,
  components: z.object({
    frequency: share,
    relevance: share,
    diversity: share,
    recency: share,
    consolidation: share,
    conceptual: share,
  }),
  /** When it entered this state, in milliseconds since the Unix epoch. */
  at: z.number().min(0).max(8_640_000_000_000_000),
  reason: z.string().optional(),
});

const promotion = promotionLine.transform(({ content_hash: contentHash, source_ref: sourceRef, created_at: createdAt, ...rest }) => ({
  ...rest,
  contentHash,
  sourceRef,
  createdAt,
}));

/** State of a signal's promotion. */
export type Promotion = z.output<typeof promotion>;

function formatPromotion({ contentHash, sourceRef, createdAt, ...rest }: Promotion): string {
  const written: z.input<typeof promotionLine> = { ...rest, content_hash: contentHash, source_ref: sourceRef, created_at: createdAt };
  return `${JSON.stringify(written)}\n`;
}

/**
 * Log of proposed, promoted and rejected signals: JSON Lines in `.dreams/promotions.jsonl`. Nothing is ever removed, so nothing is promoted
 * twice.
 */
export class PromotionLog {
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** By content hash, in the order of their first lines. */
  async read(): Promise<{ promotions: Map<string, Promotion>; broken: BrokenLine[] }> {
    const { values, broken } = parseJsonLines((await this.#workspace.read(PROMOTIONS_FILE)) ?? '', promotion, PROMOTIONS_FILE);
    return {
      promotions: new Map(values.map(({ value }) => [value.contentHash, value])),
      broken: broken.map(({ path, line, why }) => ({ path, line, why })),
    };
  }

  async add(promotions: readonly Promotion[]): Promise<void> {
    if (promotions.length === 0) return;
    const text = startOnNewLine(await this.#workspace.read(PROMOTIONS_FILE), promotions.map(formatPromotion).join(''));
    await this.#workspace.append(PROMOTIONS_FILE, text);
  }
}
