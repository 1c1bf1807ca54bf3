import type { MemoryLine } from '../../memory/long-term.ts';
import { parseMemories } from '../../memory/long-term.ts';
import type { Memory } from '../../memory/long-term-file.ts';
import { toMemoryId } from '../../memory/index/index-entry.ts';
import type { Workspace } from '../../memory/workspace.ts';
import type { RecallSettings } from '../../recall/recall-settings.ts';
import type { Pace } from '../pace.ts';
import { toMemoryText } from '../promoter.ts';
import type { Promotion } from '../promotion-log.ts';
import { DAY_MS, normalizeText, type ShortTermSignal } from '../signal.ts';
import type { SignalSources } from '../signal-sources.ts';
import type { ChangeLog } from './change-log.ts';
import type { ChangeReview } from './change-review.ts';
import { collectStatements } from './collect-statements.ts';
import { type ExamQuestion, readQuestions, type Statement, writeQuestions } from './exam-question.ts';
import { countRight, type ExamResult, ExamRoom, sumTokens } from './exam-room.ts';
import { type CandidateChange, createChange, type MemoryChange, type TrialResult } from './memory-change.ts';
import { getTerms } from './statement-text.ts';
import { suggestMerges, suggestShorter, suggestUpdates } from './suggest-changes.ts';
import { UpdateIndex } from './update-index.ts';
import { writeExam } from './write-exam.ts';

/** Maximum number of changes tried per night. */
const MAX_TRIALS = 80;

/** Maximum number of answers that replacing a memory may cost if it gains more. A new memory must cost none. */
const MAX_LOST = 1;
/** Days after which a change that was turned down is tried again, because memory has changed since. */
const RETRY_DAYS = 3;

/** Right answers and tokens of recall of one exam. */
interface ExamScore {
  right: number;
  tokens: number;
}

/** Outcome of one night's exam. */
export interface ExamReport {
  questions: number;
  before: ExamScore;
  after: ExamScore;
  /** Number of changes that the exam kept and turned down. */
  kept: number;
  turnedDown: number;
}

/** Writes questions about statements with a model. */
export type WriteQuestions = (statements: readonly Statement[]) => Promise<ExamQuestion[]>;

interface HoldExamDeps {
  workspace: Workspace;
  longTermFile: string;
  sources: SignalSources;
  log: ChangeLog;
  review: ChangeReview;
  /** Whether changes wait for a person. */
  proposes: boolean;
  maxAgeDays: number;
  signals: readonly ShortTermSignal[];
  recall?: Partial<RecallSettings> | undefined;
  /** Ids of memories that come from untrusted content: never read, changed or compared. */
  listUntrusted?: (() => Promise<ReadonlySet<string>>) | undefined;
  writeQuestions?: WriteQuestions | undefined;
  now: () => number;
  pace: Pace;
}

/**
 * Writes an exam from the vault, tries each candidate change on a copy of the memories, and keeps those with which recall answers more, or
 * as much with fewer tokens. Returns the promotions to make; other changes are applied or proposed.
 */
export async function holdExam(
  deps: HoldExamDeps,
  promotions: readonly Promotion[],
): Promise<{ promotions: Promotion[]; report: ExamReport }> {
  const { workspace, longTermFile, sources, log, review, now, pace, recall, signals, maxAgeDays } = deps;
  await review.finishInterrupted();
  const memories = await readMemories(deps);
  const statements = await collectStatements({
    workspace,
    longTermFile,
    memories,
    from: now() - (maxAgeDays + 1) * DAY_MS,
    now: now(),
    pace,
  });
  // A statement of the long-term memory is trusted already; any other is checked in its source, as before each promotion.
  const isTrusted = async ({ text, sourceRef, at }: Statement): Promise<boolean> =>
    sourceRef === longTermFile || (await sources.check({ content: text, sourceRef, createdAt: at })).stands;
  const updates = new UpdateIndex(statements, isTrusted, pace);
  const { changes: known } = await log.read();
  const isSettled = ({ id }: CandidateChange): boolean => {
    const change = known.get(id);
    if (change?.state === 'turned_down') return change.at > now() - RETRY_DAYS * DAY_MS;
    return change !== undefined && ['proposed', 'undone', 'dismissed'].includes(change.state);
  };
  const candidates = [
    ...(await suggestUpdates({ memories, updates, pace })),
    ...(await Promise.all(promotions.map((promotion) => toPromotionChange(promotion)))),
    ...(await suggestShorter(memories, pace)),
    ...(await suggestMerges(memories, pace)),
  ]
    .filter((change) => !isSettled(change))
    .slice(0, MAX_TRIALS);
  const questions = await writeExam({
    memories,
    statements,
    signals,
    updates,
    earlier: await readQuestions(workspace),
    candidates: candidates.flatMap(({ removed, added }) => [...removed, ...added].map(({ text, createdAt }) => ({ text, at: createdAt }))),
    byModel: (await deps.writeQuestions?.(statements)) ?? [],
    pace,
  });
  const exam = new TrialExam(new ExamRoom({ recall, now, pace }), questions, memories);
  const before = await exam.begin();
  const tried: MemoryChange[] = [];
  for (const change of candidates) {
    const trial = await exam.try(change);
    if (trial) tried.push({ ...change, trial: trial.result, state: trial.isKept ? 'proposed' : 'turned_down', at: now() });
  }
  const isDone = await exam.confirm();
  const kept = isDone ? tried.filter(({ state }) => state === 'proposed') : [];
  const turnedDown = tried.filter((change) => !kept.includes(change)).map((change): MemoryChange => ({ ...change, state: 'turned_down' }));
  const after = isDone ? exam.score : before;
  await writeQuestions(workspace, questions);
  const isPromoted = new Set(kept.filter(({ kind }) => kind === 'promote').map(({ id }) => id));
  const changes = kept.filter(({ kind }) => kind !== 'promote');
  await log.put(turnedDown);
  if (deps.proposes) await log.put(changes);
  else await review.applyAll(changes);
  const promoted = await Promise.all(promotions.map(async (promotion) => ({ promotion, id: (await toPromotionChange(promotion)).id })));
  return {
    promotions: promoted.flatMap(({ promotion, id }) => (isPromoted.has(id) ? promotion : [])),
    report: { questions: questions.length, before, after, kept: kept.length, turnedDown: turnedDown.length },
  };
}

async function readMemories({ workspace, longTermFile, listUntrusted }: HoldExamDeps): Promise<Memory[]> {
  const untrusted = (await listUntrusted?.()) ?? new Set();
  return parseMemories((await workspace.read(longTermFile)) ?? '').flatMap((block) => {
    if (block.kind !== 'memory') return [];
    const id = toMemoryId(block.memory.text);
    return untrusted.has(id) ? [] : { id, ...block.memory };
  });
}

const toPromotionChange = (promotion: Promotion): Promise<CandidateChange> =>
  createChange({
    kind: 'promote',
    removed: [],
    added: [{ text: toMemoryText(promotion), category: promotion.category, createdAt: promotion.createdAt }],
    sourceRef: promotion.sourceRef,
  });

/** An exam over a copy of the memories, to which changes are applied one by one. */
class TrialExam {
  readonly #room: ExamRoom;
  readonly #questions: readonly ExamQuestion[];
  readonly #original: readonly Memory[];
  #memories: readonly Memory[];
  #result: ExamResult = { right: [], tokens: [] };
  #before: ExamResult = { right: [], tokens: [] };

  constructor(room: ExamRoom, questions: readonly ExamQuestion[], memories: readonly Memory[]) {
    [this.#room, this.#questions, this.#original, this.#memories] = [room, questions, memories, memories];
  }

  get score(): ExamScore {
    return { right: countRight(this.#result), tokens: sumTokens(this.#result) };
  }

  async begin(): Promise<ExamScore> {
    this.#before = await this.#room.take(this.#questions, this.#original);
    this.#result = { right: [...this.#before.right], tokens: [...this.#before.tokens] };
    return this.score;
  }

  /** Tries a change on the questions that share a word with it. Undefined if a memory that it removes, or its duplicate, is already gone. */
  async try(change: CandidateChange): Promise<{ isKept: boolean; result: TrialResult } | undefined> {
    const removed = new Set(change.removed.map(({ text }) => normalizeText(text)));
    const memories = this.#memories.filter(({ text }) => !removed.has(normalizeText(text)));
    const { duplicateOf } = change;
    const isPresent = duplicateOf === undefined || memories.some(({ text }) => normalizeText(text) === normalizeText(duplicateOf));
    if (memories.length !== this.#memories.length - removed.size || !isPresent) return undefined;
    const fresh = change.added.map((line: MemoryLine): Memory => ({ id: toMemoryId(line.text), ...line }));
    const trial = [...memories, ...fresh.filter(({ id }) => !memories.some((memory) => memory.id === id))];
    const words = new Set([...change.removed, ...change.added].flatMap(({ text }) => [...getTerms(text)]));
    const touched = [...this.#questions.keys()].filter((number) => this.#shares(number, words));
    const taken = await this.#room.take(
      touched.flatMap((number) => this.#questions[number] ?? []),
      trial,
    );
    const result: TrialResult = { questions: touched.length, rightBefore: 0, rightAfter: 0, tokensBefore: 0, tokensAfter: 0 };
    let lost = 0;
    for (const [position, number] of touched.entries()) {
      const [was, is] = [this.#result.right[number] === true, taken.right[position] === true];
      result.rightBefore += Number(was);
      result.rightAfter += Number(is);
      result.tokensBefore += this.#result.tokens[number] ?? 0;
      result.tokensAfter += taken.tokens[position] ?? 0;
      if (was && !is) lost++;
    }
    const gained = result.rightAfter - result.rightBefore;
    const maxLost = change.removed.length > 0 ? MAX_LOST : 0;
    const isKept = gained > 0 ? lost <= maxLost : gained === 0 && lost === 0 && result.tokensAfter < result.tokensBefore;
    if (isKept) {
      this.#memories = trial;
      for (const [position, number] of touched.entries()) {
        this.#result.right[number] = taken.right[position] === true;
        this.#result.tokens[number] = taken.tokens[position] ?? 0;
      }
    }
    return { isKept, result };
  }

  /** Takes the whole exam with all kept changes. False, and nothing is kept, if fewer answers are right than before. */
  async confirm(): Promise<boolean> {
    if (this.#memories === this.#original) return true;
    this.#result = await this.#room.take(this.#questions, this.#memories);
    return countRight(this.#result) >= countRight(this.#before);
  }

  #shares(number: number, words: ReadonlySet<string>): boolean {
    const question = this.#questions[number];
    return question !== undefined && [...question.about, ...question.answer].some((term) => words.has(term));
  }
}
