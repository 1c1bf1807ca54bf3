import { sha256 } from '#shared/sha256.ts';

export const DAY_MS = 24 * 3_600_000;

/** One recall of a signal by a query. */
export interface Recall {
  query: string;
  /** `YYYY-MM-DD` in the configured time zone. */
  day: string;
  /** Relevance, 0 to 1. */
  score: number;
  /** Milliseconds since the Unix epoch. */
  at: number;
}

/** A candidate for long-term memory. */
export interface ShortTermSignal {
  content: string;
  /** File of the workspace, with line numbers if known: `memory/2026-11-20.md#L3-L5`. */
  sourceRef: string;
  /** First query that recalled it; empty if it was collected without one. */
  query: string;
  tags: string[];
  /** SHA-256 of the content, ignoring case, Unicode form and white space: 64 hex characters. */
  contentHash: string;
  /** When it was first said or noted, in milliseconds since the Unix epoch. */
  createdAt: number;
  /** Number of all recalls, including old ones no longer listed in `recalls`. */
  recallCount: number;
  /** The newest recalls, oldest first. */
  recalls: Recall[];
  /** How often a phase found it again, or promoted it. */
  consolidations: number;
  /** The newest days of those. */
  consolidationDays: string[];
  /** Why it must never be promoted; set if the text is by others or by dreaming itself. */
  untrusted?: string | undefined;
}

/** Normalizes a text for comparison. */
export const normalizeText = (content: string): string => content.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();

export const computeContentHash = (content: string): Promise<string> => sha256(normalizeText(content));

/** When it was last recalled or noted, in milliseconds since the Unix epoch. Its age is measured from then. */
export const getLastActive = ({ createdAt, recalls }: ShortTermSignal): number => Math.max(createdAt, recalls.at(-1)?.at ?? 0);
