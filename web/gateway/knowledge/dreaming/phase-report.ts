import type { ComponentName } from './dreaming-config.ts';
import type { ExamReport } from './exam/hold-exam.ts';

/** Phases of a dream: collect signals, score and promote, reflect. They run in the order light, REM, deep. */
export const DreamingPhase = { LIGHT: 'LIGHT', DEEP: 'DEEP', REM: 'REM' } as const;
export type DreamingPhase = (typeof DreamingPhase)[keyof typeof DreamingPhase];

/** A problem that did not stop the run. */
export interface Problem {
  /** Empty if it concerns no file. */
  path: string;
  line?: number | undefined;
  why: string;
}

interface PhaseReport {
  /** Milliseconds since the Unix epoch. */
  startedAt: number;
  finishedAt: number;
  problems: Problem[];
}

export interface LightReport extends PhaseReport {
  phase: 'LIGHT';
  /** Files that were read. */
  sources: string[];
  /** New signals, and signals with a better source than before. */
  collected: number;
  /** Known signals that occurred on another day. */
  seenAgain: number;
  /** Signals removed because of their age. */
  removed: number;
  /** Number of signals now, and number of those that are never promoted. */
  total: number;
  untrusted: number;
}

/** A topic shared by several signals. */
export interface Theme {
  terms: string[];
  signals: number;
  days: number;
  recalls: number;
  /** The first and the last of its texts. */
  excerpts: { content: string; sourceRef: string }[];
}

export interface RemReport extends PhaseReport {
  phase: 'REM';
  themes: Theme[];
  /** Markdown. */
  narrative: string;
  /** Whether a part was written by a model; that part is marked. */
  byModel: boolean;
  /** File that contains it. */
  path: string;
}

/**
 * `proposed`: waits for a user's decision. `known`: already in memory. `withheld`: its source does not support it. `later`: the limit of
 * this run was reached.
 */
type CandidateOutcome = 'promoted' | 'proposed' | 'known' | 'withheld' | 'later';

export interface CandidateReport {
  contentHash: string;
  content: string;
  sourceRef: string;
  score: number;
  components: Record<ComponentName, number>;
  outcome: CandidateOutcome;
  /** Why it was neither promoted nor proposed. */
  reason?: string | undefined;
}

export interface DeepReport extends PhaseReport {
  phase: 'DEEP';
  promotedCount: number;
  proposedCount: number;
  /** Promotions completed after an interruption; included in `promotedCount`. */
  finishedCount: number;
  /** By score, highest first. */
  candidates: CandidateReport[];
  /** Missing if no exam was held. */
  exam?: ExamReport | undefined;
}

export interface PhaseReports {
  LIGHT: LightReport;
  DEEP: DeepReport;
  REM: RemReport;
}
