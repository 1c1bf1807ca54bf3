/** Number of rows with the closest signs whose similarity is computed exactly. */
const MAX_CANDIDATES = 400;
const MIN_ROWS = 256;

/** A quantized vector: each component as one of 255 steps. Only its direction matters. */
export type QuantizedVector = Int8Array<ArrayBuffer>;

/** Quantizes a vector. Undefined if it has no direction: it is empty, all zeros or not finite. */
export function quantizeVector(vector: ArrayLike<number>): QuantizedVector | undefined {
  let maxAbs = 0;
  for (let index = 0; index < vector.length; index++) maxAbs = Math.max(maxAbs, Math.abs(vector[index] ?? 0));
  if (!Number.isFinite(maxAbs) || maxAbs === 0) return undefined;
  return Int8Array.from({ length: vector.length }, (_, index) => Math.round(((vector[index] ?? 0) / maxAbs) * 127));
}

/** In-memory vectors of one model by id, with similarity search. Takes a byte and a bit per dimension. */
export class VectorRows {
  readonly #rows = new Map<string, number>();
  readonly #ids: (string | undefined)[] = [];
  readonly #freeRows: number[] = [];
  #dimensions = 0;
  #bytes: Int8Array = new Int8Array();
  #signs = new Uint32Array();
  #norms = new Float32Array();

  get size(): number {
    return this.#rows.size;
  }

  has(id: string): boolean {
    return this.#rows.has(id);
  }

  /** Adds or replaces a vector. Returns false, and changes nothing, if its length differs from that of the others. */
  set(id: string, vector: QuantizedVector): boolean {
    if (this.#rows.size === 0) this.#dimensions = vector.length;
    if (vector.length !== this.#dimensions) return false;
    const row = this.#rows.get(id) ?? this.#freeRows.pop() ?? this.#ids.length;
    this.#ids[row] = id;
    this.#rows.set(id, row);
    this.#grow(row + 1);
    this.#bytes.set(vector, row * this.#dimensions);
    this.#signs.set(toSigns(vector), row * countSignWords(this.#dimensions));
    this.#norms[row] = computeNorm(vector);
    return true;
  }

  remove(id: string): void {
    const row = this.#rows.get(id);
    if (row === undefined) return;
    this.#rows.delete(id);
    this.#ids[row] = undefined;
    this.#freeRows.push(row);
  }

  clear(): void {
    this.#rows.clear();
    this.#ids.length = 0;
    this.#freeRows.length = 0;
    [this.#bytes, this.#signs, this.#norms] = [new Int8Array(), new Uint32Array(), new Float32Array()];
  }

  /** The most similar vectors by cosine similarity (1 is the same direction). Empty if `vector` has another length. */
  search(vector: QuantizedVector, limit: number): { id: string; alike: number }[] {
    if (vector.length !== this.#dimensions) return [];
    const norm = computeNorm(vector);
    return this.#findBySigns(toSigns(vector), Math.max(MAX_CANDIDATES, limit))
      .flatMap((row) => {
        const id = this.#ids[row];
        return id === undefined ? [] : { id, alike: this.#dot(row, vector) / (norm * (this.#norms[row] ?? 1)) };
      })
      .sort((a, b) => b.alike - a.alike)
      .slice(0, limit);
  }

  /** The rows whose signs differ least. Scans all rows, which takes a few milliseconds for tens of thousands. */
  #findBySigns(signs: Uint32Array, limit: number): number[] {
    const words = signs.length;
    // Buckets by the number of differing signs avoid a sort.
    const buckets: number[][] = Array.from({ length: words * 32 + 1 }, () => []);
    for (const row of this.#rows.values()) {
      let differ = 0;
      for (let index = 0, from = row * words; index < words; index++)
        differ += countBits((this.#signs[from + index] ?? 0) ^ (signs[index] ?? 0));
      buckets[differ]?.push(row);
    }
    const found: number[] = [];
    for (const bucket of buckets) {
      found.push(...bucket);
      if (found.length >= limit) break;
    }
    return found;
  }

  #dot(row: number, vector: QuantizedVector): number {
    let sum = 0;
    for (let index = 0, from = row * this.#dimensions; index < vector.length; index++)
      sum += (this.#bytes[from + index] ?? 0) * (vector[index] ?? 0);
    return sum;
  }

  #grow(rows: number): void {
    const words = countSignWords(this.#dimensions);
    if (this.#norms.length >= rows) return;
    const room = Math.max(MIN_ROWS, rows, Math.ceil(this.#norms.length * 1.5));
    this.#bytes = copyInto(new Int8Array(room * this.#dimensions), this.#bytes);
    this.#signs = copyInto(new Uint32Array(room * words), this.#signs);
    this.#norms = copyInto(new Float32Array(room), this.#norms);
  }
}

const countSignWords = (dimensions: number): number => Math.ceil(dimensions / 32);

function toSigns(vector: QuantizedVector): Uint32Array<ArrayBuffer> {
  const signs = new Uint32Array(countSignWords(vector.length));
  for (const [index, value] of vector.entries()) if (value > 0) signs[index >> 5] = (signs[index >> 5] ?? 0) | (1 << (index & 31));
  return signs;
}

function computeNorm(vector: QuantizedVector): number {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return Math.sqrt(sum) || 1;
}

/** Number of set bits. */
function countBits(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

function copyInto<T extends Int8Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer>>(
  to: T,
  from: ArrayLike<number>,
): T {
  to.set(from);
  return to;
}
