import type { MatchReasons } from '../memory/search/memory-search.ts';
import type { QueryMode } from './recall-settings.ts';

/** A search result of a recall backend. */
export interface RecallHit {
  /** Unique within the backend. */
  id: string;
  text: string;
  /** A `MemoryCategory`, if known. */
  category?: string | undefined;
  /** Share of the question that it covers: 0 to 1. */
  coverage: number;
  /** Probability from 0 to 1 that a result of this search answers the question; undefined if the backend does not know. */
  fit?: number | undefined;
  why: MatchReasons;
  /** When it was noted or said, in milliseconds since the Unix epoch; null if it does not age. */
  at: number | null;
  /** Human-readable origin. */
  source: string;
}

/** A recalled memory: the text for the model, and why it was chosen. */
export interface RecalledMemory {
  id: string;
  /** The text as used, possibly an excerpt, on one line. */
  text: string;
  category?: string | undefined;
  why: MatchReasons;
  at: number | null;
  source: string;
  /** Relevance to the question: 0 to 1. */
  relevance?: number | undefined;
}

export type RecallStatus = 'ok' | 'empty' | 'timeout' | 'unavailable';

export interface SearchDebug {
  /** Name of the search backend; `none` if there is none. */
  backend: string;
  configuredMode: QueryMode;
  effectiveMode: QueryMode;
  /** Why the mode differs from the configured one; null if it does not. */
  fallback: string | null;
  /** Duration of the search alone, in milliseconds. */
  searchMs: number;
  /** Number of distinct memories found, before the style selects among them. */
  hits: number;
}

/** Result of a recall. */
export class ActiveRecallResult {
  readonly status: RecallStatus;
  /** Total duration in milliseconds. */
  readonly elapsedMs: number;
  /** Text for the model, one memory per line unless a model has summarised them; empty unless the status is `ok`. */
  readonly summary: string;
  readonly searchDebug: SearchDebug;
  /** The memories in the summary, in the same order. */
  readonly memories: readonly RecalledMemory[];
  /** Why nothing was searched or no answer came, as a sentence; null if there was an answer. */
  readonly reason: string | null;

  constructor(fields: {
    status: RecallStatus;
    elapsedMs: number;
    searchDebug: SearchDebug;
    summary?: string;
    memories?: readonly RecalledMemory[];
    reason?: string | null;
  }) {
    this.status = fields.status;
    this.elapsedMs = fields.elapsedMs;
    this.searchDebug = fields.searchDebug;
    this.summary = fields.summary ?? '';
    this.memories = fields.memories ?? [];
    this.reason = fields.reason ?? null;
  }

  /** Whether there is text for the model. */
  get isSuccess(): boolean {
    return this.status === 'ok' && this.summary !== '';
  }

  get isEmpty(): boolean {
    return this.status === 'empty';
  }

  get isTimeout(): boolean {
    return this.status === 'timeout';
  }

  get isUnavailable(): boolean {
    return this.status === 'unavailable';
  }
}
