import { z } from '#shared/rpc/zod.ts';
import { complaint } from '../memory/complaint.ts';
import { inOurSpelling } from '../memory/spelling.ts';

const schema = z.strictObject({
  /** Days after which a claim that nobody touched is looked at again. */
  staleAfterDays: z.number().positive().max(36_500).default(180),
  /** Claims below it are pointed out: 0 to 1. */
  lowConfidence: z.number().min(0).max(1).default(0.5),
  /** Characters of the largest page. */
  maxPageChars: z
    .number()
    .int()
    .min(1000)
    .max(64 * 1024 * 1024)
    .default(16 * 1024 * 1024),
});

export type WikiConfigInput = z.input<typeof schema>;

/** Settings of a wiki (interface document 2, section 4.6, which names no fields). Either spelling is read: `stale_after_days` as well as `staleAfterDays`. */
export class WikiConfig {
  readonly staleAfterDays: number;
  readonly lowConfidence: number;
  readonly maxPageChars: number;

  /** Throws an Error that names the setting and what is wrong with it. */
  constructor(given: WikiConfigInput | Record<string, unknown> = {}) {
    const read = schema.safeParse(inOurSpelling(given));
    if (!read.success) throw new Error(complaint(read.error));
    ({ staleAfterDays: this.staleAfterDays, lowConfidence: this.lowConfidence, maxPageChars: this.maxPageChars } = read.data);
  }
}
