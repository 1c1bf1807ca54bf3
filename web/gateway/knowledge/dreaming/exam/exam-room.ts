import type { Clock } from '#shared/async/clock.ts';
import { systemClock } from '#shared/async/clock.ts';
import { estimateTokens } from '#shared/estimate-tokens.ts';
import type { Memory } from '../../memory/long-term-file.ts';
import { LongTermBackend } from '../../recall/long-term-backend.ts';
import { ActiveMemoryRecaller } from '../../recall/recaller.ts';
import type { RecallSettings } from '../../recall/recall-settings.ts';
import type { Pace } from '../pace.ts';
import { type ExamQuestion, judgeText } from './exam-question.ts';

/** Results of an exam, by question. */
export interface ExamResult {
  right: boolean[];
  /** Estimated tokens of what was recalled. */
  tokens: number[];
}

/**
 * Takes an exam with the recall that replies use, over a list of memories that may exist only on trial. An answer is right if a recalled
 * memory gives it and none gives an outdated one.
 */
export class ExamRoom {
  readonly #recaller: ActiveMemoryRecaller;
  readonly #pace: Pace;
  #memories: readonly Memory[] = [];
  /** Counts the lists of memories. */
  #version = 0;

  constructor({ recall = {}, now, pace }: { recall?: Partial<RecallSettings> | undefined; now: () => number; pace: Pace }) {
    const clock: Clock = { ...systemClock, now };
    const list = { getVersion: () => Promise.resolve(String(this.#version)), memories: () => Promise.resolve(this.#memories) };
    const backend = new LongTermBackend({ list, clock });
    // Each question stands alone, and a cached answer may be of another trial.
    this.#recaller = new ActiveMemoryRecaller(backend, { ...recall, enabled: true, query_mode: 'MESSAGE', cache_ttl_ms: 0 }, { clock });
    this.#pace = pace;
  }

  async take(questions: readonly ExamQuestion[], memories: readonly Memory[]): Promise<ExamResult> {
    if (memories !== this.#memories) this.#version++;
    this.#memories = memories;
    const result: ExamResult = { right: [], tokens: [] };
    for (const question of questions) {
      const { memories: recalled, summary } = await this.#recaller.recall(question.query, [], 'exam');
      const verdicts = recalled.map(({ text }) => judgeText(text, question));
      result.right.push(verdicts.includes('right') && !verdicts.includes('outdated'));
      result.tokens.push(estimateTokens(summary));
      await this.#pace();
    }
    return result;
  }
}

export const countRight = ({ right }: ExamResult): number => right.filter(Boolean).length;
export const sumTokens = ({ tokens }: ExamResult): number => tokens.reduce((sum, each) => sum + each, 0);
