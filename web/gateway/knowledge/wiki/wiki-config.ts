import { z } from '#shared/rpc/zod.ts';
import { formatZodError } from '../memory/format-zod-error.ts';
import { toCamelCaseKeys } from '../memory/camel-case.ts';

const schema = z.strictObject({
  /** Number of days without a change after which a claim is reported as stale. */
  staleAfterDays: z.number().positive().max(36_500).default(180),
  /** Claims with a lower confidence are reported: 0 to 1. */
  lowConfidence: z.number().min(0).max(1).default(0.5),
  /** Maximum length of a page, in characters. */
  maxPageChars: z
    .number()
    .int()
    .min(1000)
    .max(64 * 1024 * 1024)
    .default(16 * 1024 * 1024),
});

export type WikiConfigInput = z.input<typeof schema>;

/** Settings of a wiki. Accepts camelCase (`staleAfterDays`) and snake_case (`stale_after_days`) names. */
export class WikiConfig {
  readonly staleAfterDays: number;
  readonly lowConfidence: number;
  readonly maxPageChars: number;

  /** Throws an Error that names the invalid setting. */
  constructor(input: WikiConfigInput | Record<string, unknown> = {}) {
    const read = schema.safeParse(toCamelCaseKeys(input));
    if (!read.success) throw new Error(formatZodError(read.error));
    ({ staleAfterDays: this.staleAfterDays, lowConfidence: this.lowConfidence, maxPageChars: this.maxPageChars } = read.data);
  }
}
