import { z } from '#shared/rpc/zod.ts';
import { parseSettings } from './parse-settings.ts';

const days = z.number().positive().max(36_500);
const share = z.number().min(0).max(1);

/** Schemas of the sections of a memory's settings, with their defaults. */
export const sections = {
  /** When and how a long conversation is summarised. */
  compaction: z.strictObject({
    enabled: z.boolean().default(true),
    /** Size of the model's context in tokens. */
    maxTokens: z.number().int().min(100).default(128_000),
    /** Share of the context reserved for the newest messages. */
    reserveRatio: share.default(0.3),
    minMessagesToCompact: z.number().int().min(1).default(10),
    /** Share of the context at which compaction starts. */
    compactionThreshold: share.default(0.85),
  }),
  summary: z.strictObject({
    enabled: z.boolean().default(true),
    /** Model that writes summaries, as `<provider>/<model_id>`. Defaults to the conversation's model. */
    model: z.string().max(300).optional(),
    maxSummaryTokens: z.number().int().min(50).default(2000),
    /** Whether the conversation continues while its summary is being written. */
    asyncMode: z.boolean().default(true),
  }),
  /** Conversations kept word for word, and for how many days. */
  dialog: z.strictObject({ enabled: z.boolean().default(true), retentionDays: days.default(30) }),
  longTerm: z.strictObject({
    enabled: z.boolean().default(true),
    file: z
      .string()
      .min(1)
      .max(200)
      .regex(/^[^/\\]+\.md$/i, 'must be the name of a .md file')
      .default('MEMORY.md'),
  }),
  toolResult: z.strictObject({
    enabled: z.boolean().default(true),
    /** Tool results with more characters than this are stored as files. */
    maxLength: z.number().int().min(100).default(2000),
    retentionDays: days.default(7),
  }),
};

/** The `compaction` section of a `MemoryConfig`. Accepts camelCase and snake_case names; throws an Error that names the invalid setting. */
export class CompactionConfig {
  readonly enabled: boolean;
  readonly maxTokens: number;
  readonly reserveRatio: number;
  readonly minMessagesToCompact: number;
  readonly compactionThreshold: number;

  constructor(settings: z.input<typeof sections.compaction> | Record<string, unknown> = {}) {
    const parsed = parseSettings(sections.compaction, settings);
    this.enabled = parsed.enabled;
    this.maxTokens = parsed.maxTokens;
    this.reserveRatio = parsed.reserveRatio;
    this.minMessagesToCompact = parsed.minMessagesToCompact;
    this.compactionThreshold = parsed.compactionThreshold;
  }
}

/** The `summary` section of a `MemoryConfig`. */
export class SummaryConfig {
  readonly enabled: boolean;
  readonly model: string | undefined;
  readonly maxSummaryTokens: number;
  readonly asyncMode: boolean;

  constructor(settings: z.input<typeof sections.summary> | Record<string, unknown> = {}) {
    const parsed = parseSettings(sections.summary, settings);
    this.enabled = parsed.enabled;
    this.model = parsed.model;
    this.maxSummaryTokens = parsed.maxSummaryTokens;
    this.asyncMode = parsed.asyncMode;
  }
}

/** The `dialog` section of a `MemoryConfig`. */
export class DialogConfig {
  readonly enabled: boolean;
  readonly retentionDays: number;

  constructor(settings: z.input<typeof sections.dialog> | Record<string, unknown> = {}) {
    ({ enabled: this.enabled, retentionDays: this.retentionDays } = parseSettings(sections.dialog, settings));
  }
}

/** The `long_term` section of a `MemoryConfig`. */
export class LongTermMemoryConfig {
  readonly enabled: boolean;
  readonly file: string;

  constructor(settings: z.input<typeof sections.longTerm> | Record<string, unknown> = {}) {
    ({ enabled: this.enabled, file: this.file } = parseSettings(sections.longTerm, settings));
  }
}

/** The `tool_result` section of a `MemoryConfig`. */
export class ToolResultConfig {
  readonly enabled: boolean;
  readonly maxLength: number;
  readonly retentionDays: number;

  constructor(settings: z.input<typeof sections.toolResult> | Record<string, unknown> = {}) {
    const parsed = parseSettings(sections.toolResult, settings);
    this.enabled = parsed.enabled;
    this.maxLength = parsed.maxLength;
    this.retentionDays = parsed.retentionDays;
  }
}
