import { z } from '#shared/rpc/zod.ts';
import { readSettings, settingsInYaml } from './read-settings.ts';

const days = z.number().positive().max(36_500);
const share = z.number().min(0).max(1);

const schema = z.strictObject({
  /** When and how a conversation that grows too long is summarised. */
  compaction: z
    .strictObject({
      enabled: z.boolean().default(true),
      /** Tokens of the model's context. */
      maxTokens: z.number().int().min(100).default(128_000),
      /** The share of it that the newest messages keep. */
      reserveRatio: share.default(0.3),
      minMessagesToCompact: z.number().int().min(1).default(10),
      /** The share of it that has to be used. */
      compactionThreshold: share.default(0.85),
    })
    .prefault({}),
  summary: z
    .strictObject({
      enabled: z.boolean().default(true),
      /** Another model than the conversation's: `<provider>/<model_id>`. */
      model: z.string().max(300).optional(),
      maxSummaryTokens: z.number().int().min(50).default(2000),
      /** The conversation goes on while its summary is made. */
      asyncMode: z.boolean().default(true),
    })
    .prefault({}),
  /** What was said, kept word for word for so long. */
  dialog: z.strictObject({ enabled: z.boolean().default(true), retentionDays: days.default(30) }).prefault({}),
  longTerm: z
    .strictObject({
      enabled: z.boolean().default(true),
      file: z
        .string()
        .min(1)
        .max(200)
        .regex(/^[^/\\]+\.md$/i, 'must be the name of a .md file')
        .default('MEMORY.md'),
    })
    .prefault({}),
  toolResult: z
    .strictObject({
      enabled: z.boolean().default(true),
      /** Characters beyond which a tool's result is put aside as a file. */
      maxLength: z.number().int().min(100).default(2000),
      retentionDays: days.default(7),
    })
    .prefault({}),
});

export type MemoryConfigFields = z.infer<typeof schema>;
export type MemoryConfigInput = z.input<typeof schema>;

/**
 * Settings of a memory (interface document 2, section 2.4). The document's sample values are the defaults; its spelling (`max_tokens`) is read as well as
 * ours (`maxTokens`), here and in files.
 */
export class MemoryConfig {
  readonly compaction: MemoryConfigFields['compaction'];
  readonly summary: MemoryConfigFields['summary'];
  readonly dialog: MemoryConfigFields['dialog'];
  readonly longTerm: MemoryConfigFields['longTerm'];
  readonly toolResult: MemoryConfigFields['toolResult'];

  /** Throws an Error that names the setting and what is wrong with it. */
  constructor(given: MemoryConfigInput | Record<string, unknown> = {}) {
    const { compaction, summary, dialog, longTerm, toolResult } = readSettings(schema, given);
    [this.compaction, this.summary, this.dialog, this.longTerm, this.toolResult] = [compaction, summary, dialog, longTerm, toolResult];
  }

  /** Reads the text of a YAML document, at the top or under `memory`. Throws an Error that names the line, or the setting. */
  static parseYaml(text: string): MemoryConfig {
    return new MemoryConfig(settingsInYaml(text, 'memory'));
  }

  /** Reads a YAML file by whatever reads files here: in Node, `perch/memory` brings that itself. */
  static async fromYaml(path: string, read: (path: string) => Promise<string>): Promise<MemoryConfig> {
    return MemoryConfig.parseYaml(await read(path));
  }
}
