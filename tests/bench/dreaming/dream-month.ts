import { estimateTokens } from '../../../shared/estimate-tokens.ts';
import { systemClock } from '../../../shared/async/clock.ts';
import { DreamingConfig } from '../../../web/gateway/knowledge/dreaming/dreaming-config.ts';
import { DreamingPhases } from '../../../web/gateway/knowledge/dreaming/dreaming-phases.ts';
import type { ExamReport } from '../../../web/gateway/knowledge/dreaming/exam/hold-exam.ts';
import { createSearchSignals } from '../../../web/gateway/knowledge/dreaming/search-signals.ts';
import { LongTermFile } from '../../../web/gateway/knowledge/memory/long-term-file.ts';
import { MemoryConfig } from '../../../web/gateway/knowledge/memory/memory-config.ts';
import { MemoryManager } from '../../../web/gateway/knowledge/memory/memory-manager.ts';
import { memoryWorkspace, type Workspace } from '../../../web/gateway/knowledge/memory/workspace.ts';
import { LongTermBackend } from '../../../web/gateway/knowledge/recall/long-term-backend.ts';
import { ActiveMemoryRecaller } from '../../../web/gateway/knowledge/recall/recaller.ts';
import { INJECTED } from './month-facts.ts';
import { DAY_MS, FIRST_DAY, formatSaved, type SimulatedDay, SimulatedMonth } from './simulated-month.ts';

/** Right answers and tokens of recall for the held-out questions. */
interface HeldOutScore {
  accuracy: number;
  tokens: number;
  right: boolean[];
}

/** Result of a day, after its night. */
export interface DayResult {
  day: number;
  questions: number;
  /** Same questions, before and after this night. */
  before: HeldOutScore;
  after: HeldOutScore;
  /** The same conversations in a vault that never dreams. */
  undreamt: HeldOutScore;
  /** Accuracy on the questions that existed the day before, then and now. */
  sameQuestions: { then: number; now: number };
  memories: number;
  exam: ExamReport | undefined;
}

export interface MonthResult {
  days: DayResult[];
  /** Memories and promotions with words that only outside content said. */
  untrusted: string[];
  /** Held-out questions that the exam contains. */
  leaked: string[];
  promoted: number;
  memories: string;
}

/** A vault with the conversations of a simulated month. */
class SimulatedVault {
  readonly workspace: Workspace = memoryWorkspace(() => this.now);
  readonly longTerm = new LongTermFile(this.workspace, 'MEMORY.md');
  readonly phases: DreamingPhases;
  now = FIRST_DAY;
  readonly #config = new DreamingConfig({ enabled: true, promotion: 'promote', exam: 'rules' });
  readonly #clock = { ...systemClock, now: () => this.now };

  constructor() {
    this.phases = new DreamingPhases(this.workspace, this.#config, { now: () => this.now });
  }

  /** Writes a day's conversations and saved memories, and runs its searches. */
  async live(day: SimulatedDay, { searches }: { searches: boolean }): Promise<void> {
    this.now = FIRST_DAY + (day.number + 1) * DAY_MS - 3_600_000;
    await this.workspace.write(`dialog/${day.date}.jsonl`, day.dialog.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await this.workspace.append('MEMORY.md', formatSaved(day.saved));
    if (!searches) return;
    const { workspace } = this;
    const manager = await new MemoryManager({
      workspace,
      config: new MemoryConfig({ dialog: { enabled: false } }),
      clock: this.#clock,
      onSearched: createSearchSignals(this.#config, { workspace, signals: this.phases.signals }),
    }).open();
    try {
      for (const { query, at } of day.searches) {
        this.now = at;
        // An agent does not search the conversation that it is in.
        await manager.searchMemory(query, 5, ({ sessionKey }) => sessionKey?.includes(`questions-`) !== true);
      }
    } finally {
      await manager.close();
    }
  }

  async dream(number: number): Promise<ExamReport | undefined> {
    this.now = FIRST_DAY + (number + 1) * DAY_MS + 3 * 3_600_000;
    return (await this.phases.run()).deep.exam;
  }

  /** Recalls for each question; a reader quotes the first memory that names the subject with a value that it ever had. */
  async ask(questions: ReturnType<SimulatedMonth['listQuestions']>): Promise<HeldOutScore> {
    const backend = new LongTermBackend({ list: this.longTerm, clock: this.#clock });
    const recaller = new ActiveMemoryRecaller(backend, { cacheTtlMs: 0 }, { clock: this.#clock });
    const right: boolean[] = [];
    let tokens = 0;
    for (const { query, fact, current, others } of questions) {
      const { memories, summary } = await recaller.recall(query, [], 'held-out');
      tokens += estimateTokens(summary);
      const said = memories.flatMap(({ text }) =>
        text.includes(fact.subject) ? [current, ...others].filter((value) => hasWord(text, value)) : [],
      );
      right.push(said[0] === current);
    }
    return { accuracy: (100 * right.filter(Boolean).length) / questions.length, tokens, right };
  }
}

const hasWord = (text: string, word: string): boolean => new RegExp(`(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, 'u').test(text);

/** Lives a simulated month with nightly dreaming, and the same month without it. */
export async function dreamMonth({ seed, days }: { seed: number; days: number }): Promise<MonthResult> {
  const month = new SimulatedMonth(seed, days);
  const [dreaming, plain] = [new SimulatedVault(), new SimulatedVault()];
  const results: DayResult[] = [];
  for (let number = 0; number < days; number++) {
    const day = month.next(number);
    await dreaming.live(day, { searches: true });
    await plain.live(day, { searches: false });
    const questions = month.listQuestions();
    const before = await dreaming.ask(questions);
    const exam = await dreaming.dream(number);
    const after = await dreaming.ask(questions);
    plain.now = dreaming.now;
    const undreamt = await plain.ask(questions);
    const earlier = results.at(-1);
    const known = earlier?.questions ?? questions.length;
    const share = (right: readonly boolean[]): number => (100 * right.slice(0, known).filter(Boolean).length) / known;
    results.push({
      day: number + 1,
      questions: questions.length,
      before,
      after,
      undreamt,
      sameQuestions: { then: earlier?.after.accuracy ?? before.accuracy, now: share(after.right) },
      memories: (await dreaming.longTerm.memories()).length,
      exam,
    });
  }
  const memories = (await dreaming.workspace.read('MEMORY.md')) ?? '';
  const promotions = (await dreaming.phases.review.history()).filter(({ state }) => state === 'promoted');
  const changes = (await dreaming.phases.changes.history()).filter(({ state }) => state === 'applied').flatMap(({ added }) => added);
  const exam = new Set((await dreaming.phases.listQuestions()).map(({ query }) => query));
  return {
    days: results,
    untrusted: [...memories.split('\n'), ...promotions.map(({ content }) => content), ...changes.map(({ text }) => text)].filter((text) =>
      INJECTED.some((word) => text.includes(word)),
    ),
    leaked: month.listQuestions().flatMap(({ query }) => (exam.has(query) ? query : [])),
    promoted: promotions.length,
    memories,
  };
}
