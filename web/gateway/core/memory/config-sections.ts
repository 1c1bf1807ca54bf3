import { z } from '#shared/rpc/zod.ts';
import { readSettings } from './read-settings.ts';

const days = z.number().positive().max(36_500);
const share = z.number().min(0).max(1);

/** The sections of a memory's settings (interface document 2, section 2.4); the document's sample values are the defaults. */
export const sections = {
  /** When and how a conversation that grows too long is summarised. */
  compaction: z.strictObject({
    enabled: z.boolean().default(true),
    /** Tokens of the model's context. */
    maxTokens: z.number().int().min(100).default(128_000),
    /** The share of it that the newest messages keep. */
    reserveRatio: share.default(0.3),
    minMessagesToCompact: z.number().int().min(1).default(10),
    /** The share of it that has to be used. */
    compactionThreshold: share.default(0.85),
  }),
  summary: z.strictObject({
    enabled: z.boolean().default(true),
    /** Another model than the conversation's: `<provider>/<model_id>`. */
    model: z.string().max(300).optional(),
    maxSummaryTokens: z.number().int().min(50).default(2000),
    /** The conversation goes on while its summary is made. */
    asyncMode: z.boolean().default(true),
  }),
  /** What was said, kept word for word for so long. */
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
    /** Characters beyond which a tool's result is put aside as a file. */
    maxLength: z.number().int().min(100).default(2000),
    retentionDays: days.default(7),
  }),
};

/** `compaction` of a `MemoryConfig`. Takes either spelling, as all of these do, and throws an Error that names the setting and what is wrong with it. */
export class CompactionConfig {
  readonly enabled: boolean;
  readonly maxTokens: number;
  readonly reserveRatio: number;
  readonly minMessagesToCompact: number;
  readonly compactionThreshold: number;

  constructor(given: z.input<typeof sections.compaction> | Record<string, unknown> = {}) {
    const read = readSettings(sections.compaction, given);
    this.enabled = read.enabled;
    this.maxTokens = read.maxTokens;
    this.reserveRatio = read.reserveRatio;
    this.minMessagesToCompact = read.minMessagesToCompact;
    this.compactionThreshold = read.compactionThreshold;
  }
}

/** `summary` of a `MemoryConfig`. */
export class SummaryConfig {
  readonly enabled: boolean;
  readonly model: string | undefined;
  readonly maxSummaryTokens: number;
  readonly asyncMode: boolean;

  constructor(given: z.input<typeof sections.summary> | Record<string, unknown> = {}) {
    const read = readSettings(sections.summary, given);
    this.enabled = read.enabled;
    this.model = read.model;
    this.maxSummaryTokens = read.maxSummaryTokens;
    this.asyncMode = read.asyncMode;
  }
}

/** `dialog` of a `MemoryConfig`. */
export class DialogConfig {
  readonly enabled: boolean;
  readonly retentionDays: number;

  constructor(given: z.input<typeof sections.dialog> | Record<string, unknown> = {}) {
    ({ enabled: this.enabled, retentionDays: this.retentionDays } = readSettings(sections.dialog, given));
  }
}

/** `long_term` of a `MemoryConfig`. */
export class LongTermMemoryConfig {
  readonly enabled: boolean;
  readonly file: string;

  constructor(given: z.input<typeof sections.longTerm> | Record<string, unknown> = {}) {
    ({ enabled: this.enabled, file: this.file } = readSettings(sections.longTerm, given));
  }
}

/** `tool_result` of a `MemoryConfig`. */
export class ToolResultConfig {
  readonly enabled: boolean;
  readonly maxLength: number;
  readonly retentionDays: number;

  constructor(given: z.input<typeof sections.toolResult> | Record<string, unknown> = {}) {
    const read = readSettings(sections.toolResult, given);
    this.enabled = read.enabled;
    this.maxLength = read.maxLength;
    this.retentionDays = read.retentionDays;
  }
}
