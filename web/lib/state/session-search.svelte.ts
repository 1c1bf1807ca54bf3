import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/frame.ts';
import { matching } from '#lib/prompts/prompt.ts';
import { placesNamed } from '#lib/ui/shell/places.ts';
import { prompts } from './prompts.svelte.ts';

/** Somebody who types is not asked about each letter. */
const PAUSE_MS = 120;
/** While the index is being made, what is found is looked for again. */
const AGAIN_MS = 2_000;
const PAGE = 30;
/** Places and prompts stand over the chats: a few of them. */
const MAX_PLACES = 4;
const MAX_PROMPTS = 3;

export type SearchHit = MethodResult<'sessions.search'>['results'][number];

/** Search over all chats, prompts, pages and settings, with its results. */
class SessionSearch {
  query = $state('');
  hits = $state.raw<SearchHit[]>([]);
  total = $state<number | null>(null);
  /** Not all messages are in the index yet. */
  incomplete = $state(false);
  /** The answer is that to what stands in the field now. */
  answered = $state(false);
  problem = $state<Problem | null>(null);
  #cursor = $state<string | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking: AbortController | undefined;

  readonly active = $derived(this.query.trim() !== '');
  readonly places = $derived(placesNamed(this.query).slice(0, MAX_PLACES));
  readonly prompts = $derived(
    this.active && prompts.list ? matching(prompts.list, this.query.trim().replace(/^\//, '')).slice(0, MAX_PROMPTS) : [],
  );
  /** Places, prompts and chats together, in this order. */
  readonly count = $derived(this.places.length + this.prompts.length + this.hits.length);
  readonly more = $derived(this.#cursor !== null);

  /** Something was typed. */
  typed(): void {
    this.answered = false;
    this.#cancel();
    if (this.active) {
      this.#timer = setTimeout(() => void this.run(), PAUSE_MS);
      if (this.query.length === 1 || !prompts.list) void prompts.load();
    } else this.#forget();
  }

  clear(): void {
    this.query = '';
    this.typed();
  }

  async run(): Promise<void> {
    await this.#ask(null);
  }

  async loadMore(): Promise<void> {
    if (this.#cursor !== null && !this.#asking) await this.#ask(this.#cursor);
  }

  async #ask(cursor: string | null): Promise<void> {
    this.#cancel();
    const asking = (this.#asking = new AbortController());
    try {
      const params = { query: this.query, limit: PAGE, ...(cursor === null ? {} : { cursor }) };
      const found = await gateway.call('sessions.search', params, { signal: asking.signal });
      if (asking.signal.aborted) return;
      const known = new Set(cursor === null ? [] : this.hits.map(({ session }) => session.path));
      this.hits = [...(cursor === null ? [] : this.hits), ...found.results.filter(({ session }) => !known.has(session.path))];
      this.total = found.total;
      this.#cursor = found.cursor;
      this.incomplete = found.incomplete === true;
      this.problem = null;
      this.answered = true;
      if (this.incomplete) this.#timer = setTimeout(() => void this.run(), AGAIN_MS);
    } catch (error) {
      if (!asking.signal.aborted) this.problem = problemOf(error, m.shell_doing_search_chats());
    } finally {
      if (this.#asking === asking) this.#asking = undefined;
    }
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    this.#asking = undefined;
  }

  #forget(): void {
    this.hits = [];
    this.total = null;
    this.#cursor = null;
    this.incomplete = false;
    this.problem = null;
  }
}

export const sessionSearch = new SessionSearch();
