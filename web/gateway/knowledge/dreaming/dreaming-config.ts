import type { z } from '#shared/rpc/zod.ts';
import { checkSchedule } from '#shared/cron-schedule.ts';
import { parseSettings, parseYamlSettings } from '../memory/parse-settings.ts';
import { type ComponentName, dreamingFields, type StorageMode } from './dreaming-settings.ts';

export { type ComponentName, COMPONENTS, StorageMode } from './dreaming-settings.ts';

export type DreamingConfigInput = z.input<typeof dreamingFields>;

/** Settings of dreaming, with defaults. Accepts camelCase (`minScore`) and snake_case (`min_score`) names, in code and in files. */
export class DreamingConfig {
  readonly enabled: boolean;
  readonly cron: string;
  readonly timezone: string;
  readonly limit: number;
  readonly minScore: number;
  readonly minRecallCount: number;
  readonly minUniqueQueries: number;
  readonly recencyHalfLifeDays: number;
  readonly maxAgeDays: number;
  readonly storage: StorageMode;
  /** Normalized so that the sum is 1. */
  readonly scoringWeights: Readonly<Record<ComponentName, number>>;
  readonly promotion: 'propose' | 'promote';
  readonly exam: 'off' | 'rules' | 'model';

  /** Throws an Error that names the invalid setting. */
  constructor(input: DreamingConfigInput | Record<string, unknown> = {}) {
    const read = parseSettings(dreamingFields, input);
    checkSchedule({ kind: 'cron', expr: read.cron, tz: read.timezone }, 0, 'cron');
    this.enabled = read.enabled;
    this.cron = read.cron;
    this.timezone = read.timezone;
    this.limit = read.limit;
    this.minScore = read.minScore;
    this.minRecallCount = read.minRecallCount;
    this.minUniqueQueries = read.minUniqueQueries;
    this.recencyHalfLifeDays = read.recencyHalfLifeDays;
    this.maxAgeDays = read.maxAgeDays;
    this.storage = read.storage;
    this.scoringWeights = read.scoringWeights;
    this.promotion = read.promotion;
    this.exam = read.exam;
  }

  /** Parses a YAML document with the settings at the top level or under `dreaming`. Throws an Error that names the line or the setting. */
  static parseYaml(text: string): DreamingConfig {
    return new DreamingConfig(parseYamlSettings(text, 'dreaming'));
  }

  /** Reads a YAML file with the given function; in Node, `perch/memory/dreaming` supplies it. */
  static async fromYaml(path: string, read: (path: string) => Promise<string>): Promise<DreamingConfig> {
    return DreamingConfig.parseYaml(await read(path));
  }
}
