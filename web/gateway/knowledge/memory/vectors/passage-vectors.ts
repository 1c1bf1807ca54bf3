import { Backoff } from '#shared/async/backoff.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { computeContentId } from '../content-id.ts';
import { type QuantizedVector, quantizeVector, VectorRows } from './vector-rows.ts';

/** Computes embedding vectors: texts of similar meaning get similar vectors. */
export interface Embedder {
  /** `<provider>/<model_id>`. Vectors of different models are never compared. */
  model: string;
  /** Returns one vector per text, in order, all of the same length. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly ArrayLike<number>[]>;
}

/** Caches vectors by model and hash of the text, so that no text is embedded twice. A lost entry is recomputed. */
export interface VectorStore {
  kept(model: string, hashes: readonly string[]): Promise<ReadonlyMap<string, QuantizedVector>>;
  keep(model: string, vectors: ReadonlyMap<string, QuantizedVector>): Promise<void>;
}

/** A cache for the lifetime of the process. */
export function createMemoryVectorStore(): VectorStore {
  const all = new Map<string, QuantizedVector>();
  return {
    kept: (model, hashes) =>
      Promise.resolve(
        new Map(
          hashes.flatMap((hash) => {
            const vector = all.get(`${model}\n${hash}`);
            return vector ? [[hash, vector] as const] : [];
          }),
        ),
      ),
    keep: (model, vectors) => Promise.resolve(vectors.forEach((vector, hash) => all.set(`${model}\n${hash}`, vector))),
  };
}

interface PassageVectorsDeps {
  embedder: Embedder;
  store: VectorStore;
  /** Called with the reason if vectors cannot be computed; only text is searched then. */
  warn(message: string): void;
  /** Milliseconds of a monotonic clock. */
  now(): number;
}

interface PassageText {
  id: string;
  text: string;
}

/** Number of leading characters of a text that are embedded. */
const MAX_TEXT_CHARS = 4000;
const BATCH_SIZE = 64;
/** Pause after a failure in milliseconds; doubles with each further one. */
const MIN_BACKOFF_MS = 10_000;
const MAX_BACKOFF_MS = 600_000;

/** Vectors of passages. They are computed in the background in batches; a search uses the vectors available so far. */
export class PassageVectors {
  readonly #deps: PassageVectorsDeps;
  readonly #rows = new VectorRows();
  /** Hash of the embedded text, by passage. */
  readonly #hashes = new Map<string, string>();
  #pausedUntil = -Infinity;
  readonly #backoff = new Backoff(MIN_BACKOFF_MS, MAX_BACKOFF_MS);
  #hasFailed = false;
  #running: Promise<void> | undefined;
  /** Source of the passages to embed, as passed last. */
  #pendingSource: (() => Iterable<PassageText>) | undefined;

  constructor(deps: PassageVectorsDeps) {
    this.#deps = deps;
  }

  /** Number of passages that have a vector. */
  get size(): number {
    return this.#rows.size;
  }

  /** Whether vectors are missing because a call failed and the pause after it is over. */
  get isBehind(): boolean {
    return this.#hasFailed && !this.#isPaused;
  }

  /**
   * Computes missing vectors of these passages and discards the vectors of others; resolves when done or failed. Passages set during a run
   * are processed after it.
   */
  follow(passages: () => Iterable<PassageText>, signal: AbortSignal): Promise<void> {
    this.#pendingSource = passages;
    this.#running ??= this.#compute(signal).finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** The passages most similar to a text, best first; empty if its vector cannot be computed. */
  async search(text: string, limit: number, signal: AbortSignal): Promise<{ id: string; alike: number }[]> {
    if (this.#rows.size === 0 || this.#isPaused) return [];
    try {
      const [vector] = await this.#embed([text], signal);
      return vector ? this.#rows.search(vector, limit) : [];
    } catch (error) {
      this.#handleError(error, signal);
      return [];
    }
  }

  get #isPaused(): boolean {
    return this.#deps.now() < this.#pausedUntil;
  }

  async #compute(signal: AbortSignal): Promise<void> {
    try {
      while (this.#pendingSource && !this.#isPaused) {
        const passages = [...this.#pendingSource()];
        this.#pendingSource = undefined;
        const ids = new Set(passages.map(({ id }) => id));
        for (const id of this.#hashes.keys()) if (!ids.has(id)) this.#forget(id);
        const missing = [];
        const slicer = new TimeSlicer(signal);
        for (const { id, text } of passages) {
          const hash = computeContentId(text);
          if (text.trim() !== '' && this.#hashes.get(id) !== hash) missing.push({ id, text, hash });
          await slicer.after(text.length);
        }
        for (let from = 0; from < missing.length; from += BATCH_SIZE) await this.#batch(missing.slice(from, from + BATCH_SIZE), signal);
        this.#hasFailed = false;
      }
    } catch (error) {
      this.#hasFailed = true;
      this.#handleError(error, signal);
    }
  }

  async #batch(passages: readonly (PassageText & { hash: string })[], signal: AbortSignal): Promise<void> {
    const { store, embedder } = this.#deps;
    const vectorsByHash = new Map(await store.kept(embedder.model, [...new Set(passages.map(({ hash }) => hash))]));
    const texts = new Map(passages.flatMap(({ hash, text }) => (vectorsByHash.has(hash) ? [] : [[hash, text] as const])));
    if (texts.size > 0) {
      const vectors = await this.#embed([...texts.values()], signal);
      const computed = new Map([...texts.keys()].flatMap((hash, index) => (vectors[index] ? [[hash, vectors[index]] as const] : [])));
      await store.keep(embedder.model, computed);
      for (const [hash, vector] of computed) vectorsByHash.set(hash, vector);
    }
    signal.throwIfAborted();
    for (const { id, hash } of passages) {
      const vector = vectorsByHash.get(hash);
      if (vector && !this.#rows.set(id, vector)) throw new Error(`${embedder.model} changed the length of its vectors`);
      this.#hashes.set(id, hash);
    }
    this.#backoff.reset();
  }

  async #embed(texts: readonly string[], signal: AbortSignal): Promise<(QuantizedVector | undefined)[]> {
    const { embedder } = this.#deps;
    const vectors = await embedder.embed(
      texts.map((text) => text.slice(0, MAX_TEXT_CHARS)),
      signal,
    );
    if (vectors.length !== texts.length) throw new Error(`${embedder.model} returned ${vectors.length} vectors for ${texts.length} texts`);
    return vectors.map(quantizeVector);
  }

  #forget(id: string): void {
    this.#hashes.delete(id);
    this.#rows.remove(id);
  }

  #handleError(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const pauseMs = this.#backoff.next();
    this.#pausedUntil = this.#deps.now() + pauseMs;
    const seconds = Math.round(pauseMs / 1000);
    const reason = error instanceof Error ? error.message : String(error);
    this.#deps.warn(`Memory search uses words only for ${seconds} s: ${reason}`);
  }
}
