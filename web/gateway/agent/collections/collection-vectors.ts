import type { Embedder } from '../../knowledge/memory/vectors/passage-vectors.ts';
import { type QuantizedVector, quantizeVector, VectorRows } from '../../knowledge/memory/vectors/vector-rows.ts';
import type { CollectionRecord, CollectionVectorsRow, DocumentTextInfo } from '../../storage/records/collection-records.ts';
import type { DocumentStore } from '../../storage/document-store.ts';

/** Number of texts in one call, and of their leading characters. */
const BATCH_SIZE = 64;
const MAX_TEXT_CHARS = 4000;

interface CollectionVectorsDeps {
  store: Pick<DocumentStore, 'getVectors' | 'writeVectors'>;
  createEmbedder(model: string): Embedder;
  /** Called with the reason if vectors cannot be computed; only words are searched then. */
  warn(message: string): void;
}

/** A passage that is similar in meaning. */
interface VectorHit {
  collectionId: string;
  textId: string;
  number: number;
  alike: number;
}

interface OpenVectors {
  model: string;
  rows: VectorRows;
  /** Number of passages by text. */
  texts: Map<string, number>;
}

const toRowId = (textId: string, number: number): string => `${textId}#${number}`;

/** Vectors of passages for search by meaning, stored in this replica. */
export class CollectionVectors {
  readonly #deps: CollectionVectorsDeps;
  readonly #opening = new Map<string, Promise<OpenVectors>>();

  constructor(deps: CollectionVectorsDeps) {
    this.#deps = deps;
  }

  /** Computes missing vectors of these texts, and deletes those of others. Rejects only with the signal's reason. */
  async embed(
    { id, embeddingModel }: CollectionRecord,
    texts: readonly DocumentTextInfo[],
    readPassages: (textId: string) => Promise<readonly string[]>,
    signal: AbortSignal,
  ): Promise<void> {
    if (embeddingModel === null) return;
    const open = await this.#open(id, embeddingModel);
    const current = new Set(texts.map((text) => text.id));
    const removed = [...open.texts.keys()].filter((textId) => !current.has(textId));
    if (removed.length > 0) await this.#deps.store.writeVectors([], removed);
    for (const textId of removed) forgetText(open, textId);
    try {
      for (const text of texts) {
        if (text.passages === 0 || open.texts.has(text.id)) continue;
        const passages = await readPassages(text.id);
        const row = toRow(text.id, embeddingModel, await this.#embed(embeddingModel, passages, signal));
        if (!addRow(open, row)) throw new Error(`${embeddingModel} changed the length of its vectors`);
        await this.#deps.store.writeVectors([row]);
      }
    } catch (error) {
      signal.throwIfAborted();
      this.#warn(error);
    }
  }

  /** The passages most similar to a query in collections that have a model, best first; empty if its vector cannot be computed. */
  async search(query: string, collections: readonly CollectionRecord[], limit: number, signal: AbortSignal): Promise<VectorHit[]> {
    const models = new Set(collections.flatMap(({ embeddingModel }) => embeddingModel ?? []));
    const hits: VectorHit[] = [];
    for (const model of models) {
      const open = await Promise.all(
        collections
          .filter(({ embeddingModel }) => embeddingModel === model)
          .map(async ({ id }) => ({ id, ...(await this.#open(id, model)) })),
      );
      if (open.every(({ rows }) => rows.size === 0)) continue;
      try {
        const [vector] = await this.#embed(model, [query], signal);
        if (!vector) continue;
        for (const { id, rows } of open) {
          for (const { id: row, alike } of rows.search(vector, limit)) {
            const at = row.lastIndexOf('#');
            hits.push({ collectionId: id, textId: row.slice(0, at), number: Number(row.slice(at + 1)), alike });
          }
        }
      } catch (error) {
        signal.throwIfAborted();
        this.#warn(error);
      }
    }
    return hits.sort((a, b) => b.alike - a.alike).slice(0, limit);
  }

  forget(collectionId: string): void {
    this.#opening.delete(collectionId);
  }

  async #open(collectionId: string, model: string): Promise<OpenVectors> {
    const known = await this.#opening.get(collectionId)?.catch(() => undefined);
    if (known?.model === model) return known;
    const opening = this.#load(collectionId, model);
    this.#opening.set(collectionId, opening);
    opening.catch(() => this.#opening.delete(collectionId));
    return opening;
  }

  async #load(collectionId: string, model: string): Promise<OpenVectors> {
    const open: OpenVectors = { model, rows: new VectorRows(), texts: new Map() };
    const rows = await this.#deps.store.getVectors(collectionId);
    // Vectors of another model cannot be compared.
    const unusable = rows.filter((row) => row.model !== model || !addRow(open, row)).map(({ id }) => id);
    if (unusable.length > 0) await this.#deps.store.writeVectors([], unusable);
    return open;
  }

  async #embed(model: string, texts: readonly string[], signal: AbortSignal): Promise<(QuantizedVector | undefined)[]> {
    const embedder = this.#deps.createEmbedder(model);
    const all: (QuantizedVector | undefined)[] = [];
    for (let from = 0; from < texts.length; from += BATCH_SIZE) {
      const batch = texts.slice(from, from + BATCH_SIZE).map((text) => text.slice(0, MAX_TEXT_CHARS));
      const vectors = await embedder.embed(batch, signal);
      if (vectors.length !== batch.length) throw new Error(`${model} returned ${vectors.length} vectors for ${batch.length} texts`);
      all.push(...vectors.map(quantizeVector));
    }
    return all;
  }

  #warn(error: unknown): void {
    this.#deps.warn(`Collections are searched by words only: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function toRow(id: string, model: string, vectors: readonly (QuantizedVector | undefined)[]): CollectionVectorsRow {
  const dimensions = vectors.find((vector) => vector !== undefined)?.length ?? 0;
  const bytes = new Int8Array(dimensions * vectors.length);
  for (const [number, vector] of vectors.entries()) if (vector?.length === dimensions) bytes.set(vector, number * dimensions);
  return { id, model, dimensions, bytes };
}

/** Returns false if the vectors differ in length from those of other texts. */
function addRow({ rows, texts }: OpenVectors, { id, dimensions, bytes }: CollectionVectorsRow): boolean {
  const count = dimensions === 0 ? 0 : bytes.length / dimensions;
  for (let number = 0; number < count; number++) {
    const vector = bytes.subarray(number * dimensions, (number + 1) * dimensions);
    // A text without a vector is stored as zeros.
    if (vector.some((value) => value !== 0) && !rows.set(toRowId(id, number), vector)) return false;
  }
  texts.set(id, count);
  return true;
}

function forgetText({ rows, texts }: OpenVectors, textId: string): void {
  for (let number = 0; number < (texts.get(textId) ?? 0); number++) rows.remove(toRowId(textId, number));
  texts.delete(textId);
}
