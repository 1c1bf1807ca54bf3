import { sha256 } from '#shared/sha256.ts';

export const DAY_MS = 24 * 3_600_000;

/** Once that a signal came up for a query. */
export interface Recall {
  query: string;
  /** `YYYY-MM-DD` in the time zone of the settings. */
  day: string;
  /** How well it fitted, 0 to 1. */
  score: number;
  /** Milliseconds since 1970. */
  at: number;
}

/** Something that may be worth remembering for long (interface document 2, section 2.5; recalls and what follows are ours). */
export interface ShortTermSignal {
  content: string;
  /** A file of the workspace, with lines where they are known: `memory/2026-11-20.md#L3-L5`. */
  sourceRef: string;
  /** The query that it came up for first; empty where it was collected without one. */
  query: string;
  tags: string[];
  /** SHA-256 of the content without differences of case, form and white space: 64 characters of hex. */
  contentHash: string;
  /** When it was said or noted first; milliseconds since 1970. */
  createdAt: number;
  /** All recalls; of old ones only the number is kept. */
  recallCount: number;
  /** The newest recalls, oldest first. */
  recalls: Recall[];
  /** How often a phase came across it again, or promoted it. */
  consolidations: number;
  /** On which days; the newest. */
  consolidationDays: string[];
  /** Why it is never promoted, where its text is others' or dreaming's own. */
  untrusted?: string | undefined;
}

/** A text as signals are compared. */
export const normalized = (content: string): string => content.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();

export const contentHashOf = (content: string): Promise<string> => sha256(normalized(content));

/** When it last came up, or was noted; milliseconds since 1970. Its age counts from there. */
export const lastActive = ({ createdAt, recalls }: ShortTermSignal): number => Math.max(createdAt, recalls.at(-1)?.at ?? 0);
