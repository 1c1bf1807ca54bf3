import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';

/** Delay of a search after the last input, in milliseconds. */
const DEBOUNCE_MS = 120;
/** Delay of a repeated search while the index is being built, in milliseconds. */
const RETRY_MS = 2_000;
const PAGE_SIZE = 30;

type ChatHit = MethodResult<'sessions.search'>['results'][number];

/** Searches all chats by their titles and messages while a query is typed. */
export class ChatSearch {
  hits = $state.raw<ChatHit[]>([]);
  /** Whether the index does not contain all messages yet. */
  isIncomplete = $state(false);
  /** Whether the results belong to the current query. */
  isUpToDate = $state(true);
  problem = $state<Problem | null>(null);
  #query = '';
  #cursor = $state<string | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #request: AbortController | undefined;

  readonly hasMore = $derived(this.#cursor !== null);

  /** Searches for another query after a short delay; an empty one has no results. */
  setQuery(query: string): void {
    this.#query = query.trim();
    this.#cancel();
    this.isUpToDate = this.#query === '';
    if (this.#query === '') this.#clear();
    else this.#timer = setTimeout(() => void this.run(), DEBOUNCE_MS);
  }

  /** Searches at once. */
  run(): Promise<void> {
    return this.#requestPage(null);
  }

  async loadMore(): Promise<void> {
    if (this.#cursor !== null && !this.#request) await this.#requestPage(this.#cursor);
  }

  /** Ends the search. */
  close(): void {
    this.#cancel();
  }

  async #requestPage(cursor: string | null): Promise<void> {
    this.#cancel();
    const request = (this.#request = new AbortController());
    try {
      const params = { query: this.#query, limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) };
      const page = await gateway.call('sessions.search', params, { signal: request.signal });
      if (request.signal.aborted) return;
      const knownPaths = new Set(cursor === null ? [] : this.hits.map(({ session }) => session.path));
      this.hits = [...(cursor === null ? [] : this.hits), ...page.results.filter(({ session }) => !knownPaths.has(session.path))];
      this.#cursor = page.cursor;
      this.isIncomplete = page.incomplete === true;
      this.problem = null;
      this.isUpToDate = true;
      if (this.isIncomplete) this.#timer = setTimeout(() => void this.run(), RETRY_MS);
    } catch (error) {
      if (!request.signal.aborted) this.problem = toProblem(error, m.palette_doing_search());
    } finally {
      if (this.#request === request) this.#request = undefined;
    }
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#request?.abort();
    this.#request = undefined;
  }

  #clear(): void {
    this.hits = [];
    this.#cursor = null;
    this.isIncomplete = false;
    this.problem = null;
  }
}
