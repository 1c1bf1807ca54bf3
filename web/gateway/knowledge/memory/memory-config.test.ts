import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { MemoryConfig } from './memory-config.ts';
import { CompactionConfig, DialogConfig, LongTermMemoryConfig, SummaryConfig, ToolResultConfig } from './config-sections.ts';

describe('MemoryConfig', () => {
  it("has the documents' sample values as defaults", () => {
    expect(new MemoryConfig()).toEqual({
      compaction: { enabled: true, maxTokens: 128_000, reserveRatio: 0.3, minMessagesToCompact: 10, compactionThreshold: 0.85 },
      summary: { enabled: true, maxSummaryTokens: 2000, asyncMode: true },
      dialog: { enabled: true, retentionDays: 30 },
      longTerm: { enabled: true, file: 'MEMORY.md' },
      toolResult: { enabled: true, maxLength: 2000, retentionDays: 7 },
    });
  });

  verifies('memory.config/yaml', 'each section has a class of its own', () => {
    const { compaction, summary, dialog, longTerm, toolResult } = new MemoryConfig();
    expect({ ...new CompactionConfig() }).toEqual(compaction);
    expect({ ...new SummaryConfig() }).toEqual(summary);
    expect({ ...new DialogConfig() }).toEqual(dialog);
    expect({ ...new LongTermMemoryConfig() }).toEqual(longTerm);
    expect({ ...new ToolResultConfig() }).toEqual(toolResult);
    const config = new MemoryConfig({
      compaction: new CompactionConfig({ max_tokens: 5000 }),
      summary: new SummaryConfig({ async_mode: false, model: 'mine/small' }),
      long_term: new LongTermMemoryConfig({ file: 'NOTES.md' }),
      tool_result: new ToolResultConfig({ max_length: 300 }),
    });
    expect([config.compaction.maxTokens, config.summary.model, config.summary.asyncMode]).toEqual([5000, 'mine/small', false]);
    expect([config.longTerm.file, config.toolResult.maxLength, config.dialog.retentionDays]).toEqual(['NOTES.md', 300, 30]);
    expect(() => new DialogConfig({ retention_days: 0 })).toThrow('retentionDays');
  });

  verifies('memory.config/yaml', 'reads either spelling, from YAML too, and names what does not fit', async () => {
    const yaml =
      'memory:\n  compaction:\n    max_tokens: 5000\n    reserve_ratio: 0.5\n  long_term: { file: NOTES.md }\n  tool_result: { retention_days: 3 }\n';
    const config = await MemoryConfig.fromYaml('memory.yaml', () => Promise.resolve(yaml));
    expect(config.compaction).toMatchObject({ maxTokens: 5000, reserveRatio: 0.5, minMessagesToCompact: 10 });
    expect([config.longTerm.file, config.toolResult.retentionDays]).toEqual(['NOTES.md', 3]);
    expect(new MemoryConfig({ compaction: { max_tokens: 700 } }).compaction.maxTokens).toBe(
      new MemoryConfig({ compaction: { maxTokens: 700 } }).compaction.maxTokens,
    );
    expect(MemoryConfig.parseYaml('').dialog.enabled).toBe(true);
    for (const [text, complaint] of [
      ['compaction: [', /not valid YAML/],
      ['- a list', /map of names to values/],
      ['compaction: { max_tokens: many }', '`compaction.maxTokens` must be a number, not a string.'],
      ['compaction: { reserve_ratio: 2 }', '`compaction.reserveRatio` must be at most 1.'],
      ['long_term: { file: ../../etc/passwd }', /longTerm.file/],
      ['colour: red', 'Unknown setting `colour`.'],
      ['summary: { modell: x }', 'Unknown setting `summary.modell`.'],
      [`a: &a [x, x]\nb: [${'*a, '.repeat(50)}]`, /alias/i],
    ] as const)
      expect(() => MemoryConfig.parseYaml(text), text).toThrow(complaint);
  });
});
