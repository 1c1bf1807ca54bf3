import type { Workspace } from '../memory/workspace.ts';
import type { RecallSettings } from '../recall/recall-settings.ts';
import type { DreamingConfig } from './dreaming-config.ts';
import { runDeepPhase } from './deep-phase.ts';
import { runLightPhase } from './light-phase.ts';
import { ChangeLog } from './exam/change-log.ts';
import { ChangeReview } from './exam/change-review.ts';
import { type ExamQuestion, readQuestions } from './exam/exam-question.ts';
import { holdExam, type WriteQuestions } from './exam/hold-exam.ts';
import { runExclusive } from './run-exclusive.ts';
import { type Pace, noPace } from './pace.ts';
import { Promoter } from './promoter.ts';
import { type Promotion, PromotionLog } from './promotion-log.ts';
import { PromotionScorer } from './promotion-scorer.ts';
import { type Narrate, runRemPhase } from './rem-phase.ts';
import { DreamingPhase, type PhaseReports } from './phase-report.ts';
import { ReviewQueue } from './review-queue.ts';
import { SignalsStore } from './signals-store.ts';
import { type ReadSource, SignalSources } from './signal-sources.ts';

export interface DreamingOptions {
  /** Milliseconds since the Unix epoch. */
  now?: () => number;
  /** Defaults to `MEMORY.md`. */
  longTermFile?: string;
  /** Model that writes the narrative. */
  narrate?: Narrate;
  /** Time limit for the model in milliseconds; defaults to one minute. */
  narrateMs?: number;
  /** Reads sources that are not files of the workspace. */
  readSource?: ReadSource;
  /** Settings of the recall by which the exam is taken. */
  recall?: Partial<RecallSettings>;
  /** Ids of memories that come from untrusted content: the exam ignores them, and they are not changed. */
  listUntrusted?: () => Promise<ReadonlySet<string>>;
  /** Writes questions of the exam with a model; used if the setting `exam` is `model`. */
  writeQuestions?: WriteQuestions;
  /** Awaited between pieces of work. */
  pace?: Pace;
}

/** Consolidates memory in three phases, light, REM and deep; only the deep phase promotes. */
export class DreamingPhases {
  readonly signals: SignalsStore;
  /** Proposals that wait for a decision of the user. */
  readonly review: ReviewQueue;
  /** Changes of the long-term memory that the exam has tried. */
  readonly changes: ChangeReview;
  readonly #workspace: Workspace;
  readonly #config: DreamingConfig;
  readonly #options: DreamingOptions;
  readonly #log: PromotionLog;
  readonly #promoter: Promoter;
  readonly #changeLog: ChangeLog;
  readonly #now: () => number;
  readonly #longTermFile: string;
  readonly #pace: Pace;

  constructor(workspace: Workspace, config: DreamingConfig, options: DreamingOptions = {}) {
    this.#workspace = workspace;
    this.#config = config;
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#longTermFile = options.longTermFile ?? 'MEMORY.md';
    this.#pace = options.pace ?? noPace;
    this.signals = new SignalsStore(workspace, { now: this.#now, timeZone: config.timezone, pace: this.#pace });
    this.#log = new PromotionLog(workspace);
    this.#promoter = new Promoter(workspace, this.#log, this.signals, {
      storage: config.storage,
      longTermFile: this.#longTermFile,
      now: this.#now,
    });
    this.review = new ReviewQueue({
      log: this.#log,
      promoter: this.#promoter,
      sources: () => this.#sources(),
      now: this.#now,
      inTurn: (run) => this.#runExclusive(run),
    });
    this.#changeLog = new ChangeLog(workspace);
    this.changes = new ChangeReview({
      workspace,
      longTermFile: this.#longTermFile,
      log: this.#changeLog,
      now: this.#now,
      inTurn: (run) => this.#runExclusive(run),
    });
  }

  /** Questions of the last exam. */
  listQuestions(): Promise<ExamQuestion[]> {
    return readQuestions(this.#workspace);
  }

  /** Runs one phase, after any phase active on this workspace. Throws an Error for an unknown phase. */
  async runPhase<Phase extends DreamingPhase>(phase: Phase): Promise<PhaseReports[Phase]> {
    const phases: { [Each in DreamingPhase]: () => Promise<PhaseReports[Each]> } = {
      LIGHT: () => this.#timed(() => this.#light()),
      REM: () => this.#timed(() => this.#rem()),
      DEEP: () => this.#timed(() => this.#deep()),
    };
    if (!Object.hasOwn(phases, phase)) throw new Error(`Unknown phase "${String(phase)}". Use one of: ${Object.keys(phases).join(', ')}.`);
    return this.#runExclusive(phases[phase]);
  }

  /** Runs all three phases in order. */
  async run(): Promise<{ light: PhaseReports['LIGHT']; rem: PhaseReports['REM']; deep: PhaseReports['DEEP'] }> {
    const light = await this.runPhase(DreamingPhase.LIGHT);
    const rem = await this.runPhase(DreamingPhase.REM);
    return { light, rem, deep: await this.runPhase(DreamingPhase.DEEP) };
  }

  #runExclusive<Result>(run: () => Promise<Result>): Promise<Result> {
    return runExclusive(this.#workspace, 'dreaming', run);
  }

  async #timed<Report>(run: () => Promise<Report>): Promise<Report & { startedAt: number; finishedAt: number }> {
    const startedAt = this.#now();
    const report = await run();
    return { ...report, startedAt, finishedAt: this.#now() };
  }

  /** Created for each phase, because it caches what it reads. */
  #sources(): SignalSources {
    return new SignalSources(this.#workspace, {
      longTermFile: this.#longTermFile,
      readSource: this.#options.readSource,
      pace: this.#pace,
    });
  }

  #light(): Promise<Omit<PhaseReports['LIGHT'], 'startedAt' | 'finishedAt'>> {
    const { maxAgeDays, timezone } = this.#config;
    return runLightPhase({
      workspace: this.#workspace,
      signals: this.signals,
      sources: this.#sources(),
      now: this.#now,
      maxAgeDays,
      timezone,
      pace: this.#pace,
    });
  }

  #rem(): Promise<Omit<PhaseReports['REM'], 'startedAt' | 'finishedAt'>> {
    const { maxAgeDays, timezone } = this.#config;
    const { narrate, narrateMs = 60_000 } = this.#options;
    const [now, pace] = [this.#now, this.#pace];
    return runRemPhase({ workspace: this.#workspace, signals: this.signals, now, maxAgeDays, timezone, narrate, narrateMs, pace });
  }

  async #exam(promotions: readonly Promotion[]): ReturnType<typeof holdExam> {
    const { promotion, maxAgeDays, exam } = this.#config;
    const { recall, listUntrusted, writeQuestions } = this.#options;
    return holdExam(
      {
        workspace: this.#workspace,
        longTermFile: this.#longTermFile,
        sources: this.#sources(),
        log: this.#changeLog,
        review: this.changes,
        proposes: promotion === 'propose',
        maxAgeDays,
        signals: await this.signals.getAllSignals(),
        recall,
        listUntrusted,
        writeQuestions: exam === 'model' ? writeQuestions : undefined,
        now: this.#now,
        pace: this.#pace,
      },
      promotions,
    );
  }

  #deep(): Promise<Omit<PhaseReports['DEEP'], 'startedAt' | 'finishedAt'>> {
    // Promotions to another file do not change what recall finds.
    const holdsExam = this.#config.exam !== 'off' && this.#config.storage !== 'separate';
    return runDeepPhase({
      exam: holdsExam ? (promotions) => this.#exam(promotions) : undefined,
      workspace: this.#workspace,
      config: this.#config,
      longTermFile: this.#longTermFile,
      signals: this.signals,
      scorer: new PromotionScorer(this.#config, { now: this.#now }),
      sources: this.#sources(),
      log: this.#log,
      promoter: this.#promoter,
      now: this.#now,
      pace: this.#pace,
    });
  }
}
