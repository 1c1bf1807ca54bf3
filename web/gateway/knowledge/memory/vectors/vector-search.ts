import type { Clock } from '#shared/async/clock.ts';
import type { IndexEntry } from '../index/index-entry.ts';
import type { FileIndex, FoundEntry } from '../index/file-index.ts';
import { combineScores } from './combine-scores.ts';
import { type Embedder, PassageVectors, type VectorStore } from './passage-vectors.ts';

/** Time limit in milliseconds for computing a query's vector; after that only text is searched. */
const QUERY_TIMEOUT_MS = 3000;

interface VectorSearchDeps {
  index: FileIndex;
  embedder(): Embedder | undefined;
  store: VectorStore;
  clock: Pick<Clock, 'now'>;
  signal: AbortSignal;
  warn(message: string): void;
}

/** Finds passages by meaning, using the vectors of the chosen embedding model. */
export class VectorSearch {
  readonly #deps: VectorSearchDeps;
  #loaded: { model: string; vectors: PassageVectors; revision: number } | undefined;

  constructor(deps: VectorSearchDeps) {
    this.#deps = deps;
  }

  /** Starts computing missing vectors in the background. */
  follow(): void {
    const { index, signal } = this.#deps;
    const current = this.#current();
    if (!current || signal.aborted || (current.revision === index.revision && !current.vectors.isBehind)) return;
    current.revision = index.revision;
    void current.vectors.follow(() => listPassages(index), signal);
  }

  async search(query: string, limit: number): Promise<{ id: string; alike: number }[]> {
    this.follow();
    const timeout = AbortSignal.timeout(QUERY_TIMEOUT_MS);
    return (await this.#current()?.vectors.search(query, limit, AbortSignal.any([this.#deps.signal, timeout]))) ?? [];
  }

  #current() {
    const { embedder: chosen, store, clock, warn } = this.#deps;
    const embedder = chosen();
    if (!embedder) this.#loaded = undefined;
    else if (this.#loaded?.model !== embedder.model)
      this.#loaded = {
        model: embedder.model,
        revision: -1,
        vectors: new PassageVectors({ embedder, store, warn, now: () => clock.now() }),
      };
    return this.#loaded;
  }
}

function* listPassages(index: FileIndex): Generator<{ id: string; text: string }> {
  for (const { entries } of index.files()) yield* entries;
}

/** Merges text and vector results, best first. */
export function mergeVectorResults(
  byText: readonly FoundEntry[],
  byVector: readonly { id: string; alike: number }[],
  passage: (id: string) => IndexEntry | undefined,
): FoundEntry[] {
  const texts = new Map(byText.map((found) => [found.entry.id, found]));
  const scores = byText.map(({ entry, score }) => ({ id: entry.id, score }));
  return combineScores(scores, byVector).flatMap(({ id, score, alike }) => {
    const known = texts.get(id);
    const entry = known?.entry ?? passage(id);
    if (!entry) return [];
    const reasons = known?.why ?? { words: [], beside: [], timely: false };
    // Words alone cannot tell whether a passage fits that is alike in meaning.
    const fit = alike === undefined ? (known?.fit ?? 1) : 1;
    return { entry, score, coverage: known?.coverage ?? 0, fit, why: { ...reasons, ...(alike === undefined ? {} : { alike }) } };
  });
}
