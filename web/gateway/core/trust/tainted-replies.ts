import { sha256 } from '#shared/sha256.ts';

/** Maximum number of replies that are remembered. */
const MAX_REPLIES = 10_000;

/**
 * Replies of tainted runs that no session stores. A caller sends them back as earlier turns, which have to taint the next run too. Kept in
 * this host's memory, so a restart forgets them.
 */
export class TaintedReplies {
  /** Sources by the hash of the text, oldest first. */
  readonly #sources = new Map<string, readonly string[]>();

  /** Remembers texts of a run with these sources. */
  async add(texts: readonly string[], sources: readonly string[]): Promise<void> {
    if (sources.length === 0) return;
    for (const text of texts) {
      if (normalize(text) === '') continue;
      const key = await sha256(normalize(text));
      this.#sources.delete(key);
      this.#sources.set(key, sources);
    }
    for (const key of this.#sources.keys()) {
      if (this.#sources.size <= MAX_REPLIES) break;
      this.#sources.delete(key);
    }
  }

  /** Sources of the run that wrote this text; empty if it is unknown. */
  async getSources(text: string): Promise<readonly string[]> {
    return this.#sources.size === 0 ? [] : (this.#sources.get(await sha256(normalize(text))) ?? []);
  }
}

/** Clients trim and re-wrap what they send back. */
const normalize = (text: string): string => text.replace(/\s+/g, ' ').trim();
