import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';
import type { SessionRecord } from './chat-records.ts';

export interface SearchOptions {
  limit: number;
  /** Number of best matches to skip. */
  offset?: number;
  /** Filters sessions. */
  accepts?: (session: SessionRecord) => boolean;
  /** Maximum length of a snippet in characters; 200 by default. */
  chars?: number;
}

/** A matching session with its best message; without a message if only the title matches. */
export interface SearchResult {
  session: SessionRecord;
  messageId: string | null;
  role: HistoryMessage['role'] | null;
  timestamp: number;
  snippet: string;
  /** Ranges of the matches in the snippet and in the title, in UTF-16 units. */
  matches: [start: number, end: number][];
  titleMatches: [start: number, end: number][];
}

export interface SearchPage {
  results: SearchResult[];
  /** Number of matching sessions; null if counting them would require reading too many texts. */
  total: number | null;
  /** Offset of the next page; null at the end. */
  next: number | null;
  /** False if some messages are not in the index yet. */
  complete: boolean;
}
