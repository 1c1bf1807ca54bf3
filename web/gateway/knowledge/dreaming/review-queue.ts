import type { MemoryCategory } from '../memory/long-term.ts';
import type { Promoter } from './promoter.ts';
import type { Promotion, PromotionLog } from './promotion-log.ts';
import type { SignalSources } from './signal-sources.ts';

const MAX_TEXT_CHARS = 4000;

/** Why a decision was not applied: the proposal does not exist, was already decided, or the change is invalid. */
export class ReviewError extends Error {
  override name = 'ReviewError';
  readonly kind: 'absent' | 'settled' | 'unfit';

  constructor(kind: ReviewError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

interface ReviewQueueDeps {
  log: PromotionLog;
  promoter: Promoter;
  sources: () => SignalSources;
  now: () => number;
  /** Runs a function while no phase is active. */
  inTurn: <Result>(run: () => Promise<Result>) => Promise<Result>;
}

/**
 * Proposals that wait for a user's decision. All methods take the content hash of a proposal and throw a `ReviewError` if none is pending
 * under it.
 */
export class ReviewQueue {
  readonly #deps: ReviewQueueDeps;

  constructor(deps: ReviewQueueDeps) {
    this.#deps = deps;
  }

  /** Pending proposals, best first. */
  async pending(): Promise<Promotion[]> {
    return (await this.history()).filter(({ state }) => state === 'proposed').sort((a, b) => b.score - a.score);
  }

  /** Everything that was ever proposed or promoted, in its current state; latest first. */
  async history(): Promise<Promotion[]> {
    return [...(await this.#deps.log.read()).promotions.values()].sort((a, b) => b.at - a.at);
  }

  /**
   * Promotes a proposal, with the text and category edited before or passed here. Unedited text must still be in its source; edited text
   * counts as the user's own.
   */
  accept(contentHash: string, { text, category }: { text?: string; category?: MemoryCategory } = {}): Promise<Promotion> {
    return this.#deps.inTurn(async () => {
      const proposal = this.#applyEdits(await this.#getPending(contentHash), text, category);
      if (proposal.text === undefined) {
        const state = await this.#deps.sources().check(proposal);
        if (!state.stands) throw new ReviewError('unfit', `This suggestion can’t be saved as it is: ${state.why}. Edit the text first.`);
      }
      await this.#deps.promoter.promote([proposal]);
      return { ...proposal, state: 'promoted' };
    });
  }

  /** Changes the text of a proposal, which stays pending. */
  edit(contentHash: string, text: string, category?: MemoryCategory): Promise<Promotion> {
    return this.#deps.inTurn(async () => {
      const proposal = this.#applyEdits(await this.#getPending(contentHash), text, category);
      await this.#deps.log.add([proposal]);
      return proposal;
    });
  }

  /** Rejects a proposal permanently. */
  reject(contentHash: string, reason?: string): Promise<Promotion> {
    return this.#deps.inTurn(async () => {
      const proposal = await this.#getPending(contentHash);
      const rejected: Promotion = {
        ...proposal,
        state: 'rejected',
        at: this.#deps.now(),
        ...(reason !== undefined && { reason: reason.slice(0, 1000) }),
      };
      await this.#deps.log.add([rejected]);
      return rejected;
    });
  }

  /** Reverts a rejection: the proposal is pending again. */
  restore(contentHash: string): Promise<Promotion> {
    return this.#deps.inTurn(async () => {
      const found = await this.#getFound(contentHash);
      if (found.state !== 'rejected') throw new ReviewError('settled', 'The suggestion has not been rejected.');
      const { reason: _, ...rest } = found;
      const proposal: Promotion = { ...rest, state: 'proposed', at: this.#deps.now() };
      await this.#deps.log.add([proposal]);
      return proposal;
    });
  }

  async #getPending(contentHash: string): Promise<Promotion> {
    const found = await this.#getFound(contentHash);
    if (found.state !== 'proposed')
      throw new ReviewError('settled', `The suggestion has already been ${found.state === 'rejected' ? 'rejected' : 'accepted'}.`);
    return found;
  }

  async #getFound(contentHash: string): Promise<Promotion> {
    const { promotions } = await this.#deps.log.read();
    // An interrupted promotion was already accepted: it is completed before any other decision.
    const interrupted = [...promotions.values()].filter(({ state }) => state === 'promoting');
    await this.#deps.promoter.finish(interrupted);
    const found = promotions.get(contentHash);
    if (!found) throw new ReviewError('absent', `No suggestion with hash "${contentHash}".`);
    return found;
  }

  #applyEdits(proposal: Promotion, text: string | undefined, category: MemoryCategory | undefined): Promotion {
    const words = text?.trim();
    if (words === '') throw new ReviewError('unfit', 'The text must not be empty. To discard the suggestion, reject it.');
    if (words !== undefined && words.length > MAX_TEXT_CHARS)
      throw new ReviewError('unfit', `The text has ${words.length} characters. The maximum is ${MAX_TEXT_CHARS}.`);
    return { ...proposal, ...(words !== undefined && { text: words }), ...(category !== undefined && { category }), at: this.#deps.now() };
  }
}
