import { sha256 } from '#shared/sha256.ts';
import type { ContentLabels } from './content-labels.ts';

/** Maximum number of replies that are remembered. */
const MAX_REPLIES = 10_000;
/** Number of the oldest replies that are forgotten at once, so that the maximum is reached rarely. */
const FORGOTTEN = 1000;

/**
 * Labels of replies of tainted runs that no session stores. A caller sends them back as earlier turns, which have to taint the next run too,
 * also after a restart and on another host. Only hashes of the texts are stored.
 */
export class TaintedReplies {
  readonly #labels: Pick<ContentLabels, 'getSources' | 'count' | 'add' | 'removeOldest'>;
  readonly #maxReplies: number;
  /** Stored replies; undefined before they were counted. */
  #count: number | undefined;

  constructor(labels: Pick<ContentLabels, 'getSources' | 'count' | 'add' | 'removeOldest'>, maxReplies = MAX_REPLIES) {
    this.#labels = labels;
    this.#maxReplies = maxReplies;
  }

  /** Remembers texts of a run with these sources. */
  async add(texts: readonly string[], sources: readonly string[]): Promise<void> {
    if (sources.length === 0) return;
    const hashes = await Promise.all([...new Set(texts.map(normalize))].filter(Boolean).map((text) => sha256(text)));
    for (const hash of hashes) await this.#labels.add('reply', hash, sources);
    this.#count = this.#count === undefined ? await this.#labels.count('reply') : this.#count + hashes.length;
    if (this.#count <= this.#maxReplies) return;
    await this.#labels.removeOldest('reply', this.#maxReplies - Math.min(FORGOTTEN, this.#maxReplies / 2));
    this.#count = undefined;
  }

  /** Sources of the run that wrote this text; empty if it is unknown. */
  async getSources(text: string): Promise<readonly string[]> {
    return this.#labels.getSources('reply', await sha256(normalize(text)));
  }
}

/** Clients trim and re-wrap what they send back. */
const normalize = (text: string): string => text.replace(/\s+/g, ' ').trim();
