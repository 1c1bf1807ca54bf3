import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { DreamingConfig, StorageMode } from './dreaming-config.ts';

describe('DreamingConfig', () => {
  it("has the documents' sample values as defaults", () => {
    expect(new DreamingConfig()).toEqual({
      enabled: false,
      cron: '0 3 * * *',
      timezone: 'UTC',
      limit: 10,
      minScore: 0.5,
      minRecallCount: 2,
      minUniqueQueries: 2,
      recencyHalfLifeDays: 7,
      maxAgeDays: 30,
      storage: 'inline',
      scoringWeights: { frequency: 0.25, relevance: 0.2, diversity: 0.15, recency: 0.15, consolidation: 0.15, conceptual: 0.1 },
      promotion: 'propose',
      exam: 'off',
    });
  });

  verifies('dreaming.config/fields', 'reads either spelling, from YAML too, and names what does not fit', async () => {
    const yaml =
      'dreaming:\n  enabled: true\n  cron: "30 2 * * 1-5"\n  timezone: Europe/Berlin\n  min_score: 0.7\n  min_recall_count: 3\n  min_unique_queries: 1\n' +
      '  recency_half_life_days: 3.5\n  max_age_days: 60\n  storage: BOTH\n  scoring_weights: { frequency: 3, relevance: 1, diversity: 0, recency: 0, consolidation: 0, conceptual: 0 }\n';
    const config = await DreamingConfig.fromYaml('dreaming.yaml', () => Promise.resolve(yaml));
    expect(config).toMatchObject({ enabled: true, cron: '30 2 * * 1-5', timezone: 'Europe/Berlin', minScore: 0.7, minRecallCount: 3 });
    expect(config).toMatchObject({ minUniqueQueries: 1, recencyHalfLifeDays: 3.5, maxAgeDays: 60, storage: StorageMode.BOTH, limit: 10 });
    expect(config.scoringWeights).toEqual({ frequency: 0.75, relevance: 0.25, diversity: 0, recency: 0, consolidation: 0, conceptual: 0 });
    expect(new DreamingConfig({ minScore: 0.7, scoringWeights: { frequency: 1 } })).toEqual(
      new DreamingConfig({ min_score: 0.7, scoring_weights: { frequency: 1 } }),
    );
    expect(DreamingConfig.parseYaml('')).toEqual(new DreamingConfig());
    for (const [text, complaint] of [
      ['cron: [', /not valid YAML/],
      ['- a list', /map of names to values/],
      ['min_score: much', '`minScore` must be a number, not a string.'],
      ['min_score: 1.5', '`minScore` must be at most 1.'],
      ['limit: 0', /^`limit` /],
      ['timezone: Mars/Olympus', '`timezone` must be an IANA time zone'],
      ['cron: "0 3 * * * *"', /`cron`: .*must have five fields/],
      ['cron: "61 3 * * *"', /`cron`: .*is not a cron expression/],
      ['cron: "0 0 30 2 *"', /`cron`: .*never matches/],
      ['storage: elsewhere', /^`storage` /],
      ['scoring_weights: { luck: 1 }', 'Unknown setting `scoringWeights.luck`.'],
      ['scoring_weights: { recency: -1 }', /^`scoringWeights.recency` /],
      [
        'scoring_weights: { frequency: 0, relevance: 0, diversity: 0, recency: 0, consolidation: 0, conceptual: 0 }',
        '`scoringWeights` must include at least one weight above 0',
      ],
      ['colour: red', 'Unknown setting `colour`.'],
    ] as const)
      expect(() => DreamingConfig.parseYaml(text), text).toThrow(complaint);
  });
});
