import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { findPrompts } from '#app/state/prompt-names.ts';
import { findDestinations } from './find-destinations.ts';
import { prompts } from '#app/state/prompt-library.svelte.ts';

/** Delay of a search after the last input, in milliseconds. */
const DEBOUNCE_MS = 120;
/** Delay of a repeated search while the index is being built, in milliseconds. */
const RETRY_MS = 2_000;
const PAGE_SIZE = 30;
/** Maximum number of pages and prompts listed above the chats. */
const MAX_PAGES = 4;
const MAX_PROMPTS = 3;

type SearchHit = MethodResult<'sessions.search'>['results'][number];

/** Search over all chats, prompts, pages and settings, with its results. */
class SessionSearch {
  query = $state('');
  hits = $state.raw<SearchHit[]>([]);
  total = $state<number | null>(null);
  /** Whether the index does not contain all messages yet. */
  isIncomplete = $state(false);
  /** Whether the results belong to the current query. */
  isUpToDate = $state(false);
  problem = $state<Problem | null>(null);
  #cursor = $state<string | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #request: AbortController | undefined;

  readonly isActive = $derived(this.query.trim() !== '');
  readonly pages = $derived(findDestinations(this.query).slice(0, MAX_PAGES));
  readonly prompts = $derived(
    this.isActive && prompts.list ? findPrompts(prompts.list, this.query.trim().replace(/^\//, '')).slice(0, MAX_PROMPTS) : [],
  );
  /** Number of results: pages, prompts and chats, in this order. */
  readonly count = $derived(this.pages.length + this.prompts.length + this.hits.length);
  readonly hasMore = $derived(this.#cursor !== null);

  /** Called when the query has changed. */
  onInput(): void {
    this.isUpToDate = false;
    this.#cancel();
    if (this.isActive) {
      this.#timer = setTimeout(() => void this.run(), DEBOUNCE_MS);
      if (this.query.length === 1 || !prompts.list) void prompts.load();
    } else this.#clearResults();
  }

  clear(): void {
    this.query = '';
    this.onInput();
  }

  async run(): Promise<void> {
    await this.#requestPage(null);
  }

  async loadMore(): Promise<void> {
    if (this.#cursor !== null && !this.#request) await this.#requestPage(this.#cursor);
  }

  async #requestPage(cursor: string | null): Promise<void> {
    this.#cancel();
    const request = (this.#request = new AbortController());
    try {
      const params = { query: this.query, limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) };
      const page = await gateway.call('sessions.search', params, { signal: request.signal });
      if (request.signal.aborted) return;
      const knownPaths = new Set(cursor === null ? [] : this.hits.map(({ session }) => session.path));
      this.hits = [...(cursor === null ? [] : this.hits), ...page.results.filter(({ session }) => !knownPaths.has(session.path))];
      this.total = page.total;
      this.#cursor = page.cursor;
      this.isIncomplete = page.incomplete === true;
      this.problem = null;
      this.isUpToDate = true;
      if (this.isIncomplete) this.#timer = setTimeout(() => void this.run(), RETRY_MS);
    } catch (error) {
      if (!request.signal.aborted) this.problem = toProblem(error, m.shell_doing_search_chats());
    } finally {
      if (this.#request === request) this.#request = undefined;
    }
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#request?.abort();
    this.#request = undefined;
  }

  #clearResults(): void {
    this.hits = [];
    this.total = null;
    this.#cursor = null;
    this.isIncomplete = false;
    this.problem = null;
  }
}

export const sessionSearch = new SessionSearch();
