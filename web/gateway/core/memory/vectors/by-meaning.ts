import type { Clock } from '../../clock.ts';
import type { Entry } from '../index/entry.ts';
import type { FileIndex, FoundEntry } from '../index/file-index.ts';
import { combined } from './combine.ts';
import { type Embedder, Vectors, type VectorStore } from './vectors.ts';

/** Time limit in milliseconds for computing a query's vector; after that only text is searched. */
const LONGEST_MS = 3000;

export interface ByMeaningDeps {
  index: FileIndex;
  embedder(): Embedder | undefined;
  store: VectorStore;
  clock: Pick<Clock, 'now'>;
  signal: AbortSignal;
  warn(message: string): void;
}

/** Finds passages by meaning, using the vectors of the chosen embedding model. */
export class ByMeaning {
  readonly #deps: ByMeaningDeps;
  #made: { model: string; vectors: Vectors; revision: number } | undefined;

  constructor(deps: ByMeaningDeps) {
    this.#deps = deps;
  }

  /** Starts computing missing vectors in the background. */
  follow(): void {
    const { index, signal } = this.#deps;
    const made = this.#current();
    if (!made || signal.aborted || (made.revision === index.revision && !made.vectors.isBehind)) return;
    made.revision = index.revision;
    void made.vectors.follow(() => passagesOf(index), signal);
  }

  async search(query: string, limit: number): Promise<{ id: string; alike: number }[]> {
    this.follow();
    const late = AbortSignal.timeout(LONGEST_MS);
    return (await this.#current()?.vectors.search(query, limit, AbortSignal.any([this.#deps.signal, late]))) ?? [];
  }

  #current() {
    const { embedder: chosen, store, clock, warn } = this.#deps;
    const embedder = chosen();
    if (!embedder) this.#made = undefined;
    else if (this.#made?.model !== embedder.model)
      this.#made = { model: embedder.model, revision: -1, vectors: new Vectors({ embedder, store, warn, now: () => clock.now() }) };
    return this.#made;
  }
}

function* passagesOf(index: FileIndex): Generator<{ id: string; text: string }> {
  for (const { entries } of index.files()) yield* entries;
}

/** Merges text and vector results, best first. */
export function withVectors(
  byText: readonly FoundEntry[],
  byVector: readonly { id: string; alike: number }[],
  passage: (id: string) => Entry | undefined,
): FoundEntry[] {
  const texts = new Map(byText.map((found) => [found.entry.id, found]));
  const scores = byText.map(({ entry, score }) => ({ id: entry.id, score }));
  return combined(scores, byVector).flatMap(({ id, score, alike }) => {
    const known = texts.get(id);
    const entry = known?.entry ?? passage(id);
    if (!entry) return [];
    const why = known?.why ?? { words: [], beside: [], timely: false };
    return { entry, score, coverage: known?.coverage ?? 0, why: { ...why, ...(alike === undefined ? {} : { alike }) } };
  });
}
