import type { ComponentName } from './config.ts';

/** The parts of a dream (interface document 2, section 2.5): collect signals, score and promote, reflect. They run light, REM, deep. */
export const DreamingPhase = { LIGHT: 'LIGHT', DEEP: 'DEEP', REM: 'REM' } as const;
export type DreamingPhase = (typeof DreamingPhase)[keyof typeof DreamingPhase];

/** What went not as it should, and stopped nothing. */
export interface Problem {
  /** Empty where it is no file's. */
  path: string;
  line?: number | undefined;
  why: string;
}

interface Report {
  /** Milliseconds since 1970. */
  startedAt: number;
  finishedAt: number;
  problems: Problem[];
}

export interface LightReport extends Report {
  phase: 'LIGHT';
  /** The files that were read. */
  sources: string[];
  /** New signals, and such whose source is better now. */
  collected: number;
  /** Known signals that were come across on another day. */
  seenAgain: number;
  /** Signals that were too old. */
  removed: number;
  /** How many there are now, and how many of them are never promoted. */
  total: number;
  untrusted: number;
}

/** What several signals are about. */
export interface Theme {
  terms: string[];
  signals: number;
  days: number;
  recalls: number;
  /** The first and the last that was said. */
  excerpts: { content: string; sourceRef: string }[];
}

export interface RemReport extends Report {
  phase: 'REM';
  themes: Theme[];
  /** Markdown. */
  narrative: string;
  /** Whether a model has written a part of it, which is marked. */
  byModel: boolean;
  /** The file that keeps it. */
  path: string;
}

/** `proposed`: it waits for a person. `known`: the memory says it already. `withheld`: its source does not bear it. `later`: this run had enough. */
export type Outcome = 'promoted' | 'proposed' | 'known' | 'withheld' | 'later';

export interface CandidateReport {
  contentHash: string;
  content: string;
  sourceRef: string;
  score: number;
  components: Record<ComponentName, number>;
  outcome: Outcome;
  /** Why it is neither promoted nor proposed. */
  reason?: string | undefined;
}

export interface DeepReport extends Report {
  phase: 'DEEP';
  promotedCount: number;
  proposedCount: number;
  /** What a crash had interrupted, and is promoted now; it is in `promotedCount`. */
  finishedCount: number;
  /** By score, highest first. */
  candidates: CandidateReport[];
}

export interface ReportOf {
  LIGHT: LightReport;
  DEEP: DeepReport;
  REM: RemReport;
}
