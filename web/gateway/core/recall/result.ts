import type { Reasons } from '../memory/search/memory-search.ts';
import type { QueryMode } from './settings.ts';

/** Something that memory has found for a question. */
export interface FoundMemory {
  /** Unique within the backend. */
  id: string;
  text: string;
  /** One of `MemoryCategory`, where it has one. */
  category?: string | undefined;
  /** The share of the question that it has: 0 to 1. */
  coverage: number;
  why: Reasons;
  /** When it was noted or said, in milliseconds since 1970; null where it does not age. */
  at: number | null;
  /** Where it comes from, in words for people. */
  source: string;
}

/** Something that was recalled: what of it a model is told, and why. */
export interface RecalledMemory {
  id: string;
  /** As it was told, perhaps a part of it, on one line. */
  text: string;
  category?: string | undefined;
  why: Reasons;
  at: number | null;
  source: string;
  /** How telling it is for what was asked: 0 to 1. */
  relevance?: number | undefined;
}

export type RecallStatus = 'ok' | 'empty' | 'timeout' | 'unavailable';

export interface SearchDebug {
  /** What searched; `none` where there is nothing that could. */
  backend: string;
  configuredMode: QueryMode;
  effectiveMode: QueryMode;
  /** Why the mode is another than the configured one; null where it is not. */
  fallback: string | null;
  /** Milliseconds of searching alone. */
  searchMs: number;
  /** Different memories that were found, before the style chose among them. */
  hits: number;
}

/** What came of a recall (interface document 2, section 2.5). */
export class ActiveRecallResult {
  readonly status: RecallStatus;
  /** Milliseconds in all. */
  readonly elapsedMs: number;
  /** What a model is told, a memory a line where no model has summarised; empty but where the status is `ok`. */
  readonly summary: string;
  readonly searchDebug: SearchDebug;
  /** What the summary was made of, in its order. */
  readonly memories: readonly RecalledMemory[];
  /** In a sentence, why nothing was searched or no answer came; null where one did. */
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

  /** There is something to tell a model. */
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
