/** Parameters of Okapi BM25: term saturation and length normalization. */
export interface Bm25Params {
  readonly k1: number;
  readonly b: number;
}

/** The usual values, for texts of any kind. */
export const BM25: Bm25Params = { k1: 1.2, b: 0.75 };

/** Weight of a term that `frequency` of `docs` documents have: the rarer, the higher. */
export const computeIdf = (docs: number, frequency: number): number => Math.log(1 + (docs - frequency + 0.5) / (frequency + 0.5));

/** How much a document's length dampens its scores. */
export const computeNorm = ({ k1, b }: Bm25Params, length: number, meanLength: number): number => k1 * (1 - b + (b * length) / meanLength);

/** Number of lengths whose norm is computed in advance: a table lookup for each posting of a query is faster than the formula. */
const TABLE_LENGTHS = 256;
let lastNorms: { params: Bm25Params; meanLength: number; norms: Float64Array } | undefined;

/** Norms by length, for lengths below the length of the table. */
export function getNormTable(params: Bm25Params, meanLength: number): Float64Array {
  if (lastNorms?.params !== params || lastNorms.meanLength !== meanLength)
    lastNorms = {
      params,
      meanLength,
      norms: Float64Array.from({ length: TABLE_LENGTHS }, (_, length) => computeNorm(params, length, meanLength)),
    };
  return lastNorms.norms;
}

/** Score of a term in a document that has it `times` times. */
export const scoreTerm = (weight: number, times: number, norm: number, { k1 }: Bm25Params): number =>
  (weight * times * (k1 + 1)) / (times + norm);
