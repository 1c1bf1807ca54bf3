import { complaint } from '../memory/complaint.ts';
import { type PromptStyle, type QueryMode, recallSettings } from './settings.ts';

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export interface ActiveRecallConfigFields {
  enabled: boolean;
  queryMode: QueryMode;
  promptStyle: PromptStyle;
  /** Characters of what a model is told, at the most. */
  maxSummaryChars: number;
  recentUserTurns: number;
  recentAssistantTurns: number;
  /** Milliseconds for which an answer serves again; 0: never. */
  cacheTtlMs: number;
}

/**
 * Settings of active recall (interface document 2, section 2.4). The document's sample values are the defaults; its spelling (`max_summary_chars`) is read as
 * well as ours (`maxSummaryChars`).
 */
export class ActiveRecallConfig implements ActiveRecallConfigFields {
  readonly enabled: boolean;
  readonly queryMode: QueryMode;
  readonly promptStyle: PromptStyle;
  readonly maxSummaryChars: number;
  readonly recentUserTurns: number;
  readonly recentAssistantTurns: number;
  readonly cacheTtlMs: number;

  /** Throws an Error that names the setting and what is wrong with it. */
  constructor(given: Partial<ActiveRecallConfigFields> | Record<string, unknown> = {}) {
    const read = recallSettings.safeParse(Object.fromEntries(Object.entries(given).map(([name, value]) => [snakeCase(name), value])));
    if (!read.success) throw new Error(complaint(read.error));
    const { data } = read;
    this.enabled = data.enabled;
    this.queryMode = data.query_mode;
    this.promptStyle = data.prompt_style;
    this.maxSummaryChars = data.max_summary_chars;
    this.recentUserTurns = data.recent_user_turns;
    this.recentAssistantTurns = data.recent_assistant_turns;
    this.cacheTtlMs = data.cache_ttl_ms;
  }
}
