import { z } from '#shared/rpc/zod.ts';
import { sections } from './config-sections.ts';
import { parseSettings, parseYamlSettings } from './parse-settings.ts';

const schema = z.strictObject({
  compaction: sections.compaction.prefault({}),
  summary: sections.summary.prefault({}),
  dialog: sections.dialog.prefault({}),
  longTerm: sections.longTerm.prefault({}),
  toolResult: sections.toolResult.prefault({}),
});

export type MemoryConfigFields = z.infer<typeof schema>;
export type MemoryConfigInput = z.input<typeof schema>;

/** Settings of a memory, with defaults. Accepts camelCase (`maxTokens`) and snake_case (`max_tokens`) names, in code and in files. */
export class MemoryConfig {
  readonly compaction: MemoryConfigFields['compaction'];
  readonly summary: MemoryConfigFields['summary'];
  readonly dialog: MemoryConfigFields['dialog'];
  readonly longTerm: MemoryConfigFields['longTerm'];
  readonly toolResult: MemoryConfigFields['toolResult'];

  /** Throws an Error that names the invalid setting. */
  constructor(input: MemoryConfigInput | Record<string, unknown> = {}) {
    const { compaction, summary, dialog, longTerm, toolResult } = parseSettings(schema, input);
    [this.compaction, this.summary, this.dialog, this.longTerm, this.toolResult] = [compaction, summary, dialog, longTerm, toolResult];
  }

  /** Parses a YAML document with the settings at the top level or under `memory`. Throws an Error that names the line or the setting. */
  static parseYaml(text: string): MemoryConfig {
    return new MemoryConfig(parseYamlSettings(text, 'memory'));
  }

  /** Reads a YAML file with the given function; in Node, `perch/memory` supplies it. */
  static async fromYaml(path: string, read: (path: string) => Promise<string>): Promise<MemoryConfig> {
    return MemoryConfig.parseYaml(await read(path));
  }
}
