import { formatZodError } from '../memory/format-zod-error.ts';
import { type PromptStyle, type QueryMode, recallSettings } from './recall-settings.ts';

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export interface ActiveRecallConfigFields {
  enabled: boolean;
  queryMode: QueryMode;
  promptStyle: PromptStyle;
  /** Maximum length of the summary for the model, in characters. */
  maxSummaryChars: number;
  recentUserTurns: number;
  recentAssistantTurns: number;
  /** How long an answer is cached, in milliseconds; 0 disables the cache. */
  cacheTtlMs: number;
}

/** Settings of active recall, with defaults. Accepts camelCase (`maxSummaryChars`) and snake_case (`max_summary_chars`) names. */
export class ActiveRecallConfig implements ActiveRecallConfigFields {
  readonly enabled: boolean;
  readonly queryMode: QueryMode;
  readonly promptStyle: PromptStyle;
  readonly maxSummaryChars: number;
  readonly recentUserTurns: number;
  readonly recentAssistantTurns: number;
  readonly cacheTtlMs: number;

  /** Throws an Error that names the invalid setting. */
  constructor(input: Partial<ActiveRecallConfigFields> | Record<string, unknown> = {}) {
    const read = recallSettings.safeParse(Object.fromEntries(Object.entries(input).map(([name, value]) => [toSnakeCase(name), value])));
    if (!read.success) throw new Error(formatZodError(read.error));
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
