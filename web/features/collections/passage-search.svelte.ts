import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';

export type FoundPassage = MethodResult<'collections.search'>['passages'][number];

const INPUT_DELAY_MS = 200;
const MAX_PASSAGES = 50;

/** A search for passages in one collection. */
export class PassageSearch {
  readonly collectionId: string;
  query = $state('');
  /** Best first; null before the first answer. */
  passages = $state.raw<readonly FoundPassage[] | null>(null);
  /** Some documents are not indexed yet. */
  isIncomplete = $state(false);
  /** Whether the result belongs to the query. */
  isUpToDate = $state(true);
  problem = $state.raw<Problem | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #searchCount = 0;

  constructor(collectionId: string) {
    this.collectionId = collectionId;
  }

  get isActive(): boolean {
    return this.query.trim() !== '';
  }

  onInput(): void {
    this.isUpToDate = false;
    clearTimeout(this.#timer);
    if (this.isActive) this.#timer = setTimeout(() => void this.run(), INPUT_DELAY_MS);
    else this.clear();
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#searchCount++;
    this.query = '';
    Object.assign(this, { passages: null, problem: null, isIncomplete: false, isUpToDate: true });
  }

  async run(): Promise<void> {
    const searchId = ++this.#searchCount;
    const query = this.query.trim();
    if (query === '') return;
    try {
      const { passages, incomplete } = await gateway.call('collections.search', {
        query,
        collectionIds: [this.collectionId],
        limit: MAX_PASSAGES,
      });
      if (searchId !== this.#searchCount) return;
      Object.assign(this, { passages, isIncomplete: incomplete, problem: null, isUpToDate: true });
    } catch (error) {
      if (searchId === this.#searchCount && !isConnectionLost(error)) this.problem = toProblem(error, m.collections_doing_search());
    }
  }
}
