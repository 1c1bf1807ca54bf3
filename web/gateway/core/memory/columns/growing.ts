type Growing = Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

const LEAST = 64;

/** Returns the column, or a longer copy of it, with room for an index. */
export function withRoom<T extends Growing>(column: T, make: (length: number) => T, number: number): T {
  if (number < column.length) return column;
  const longer = make(Math.max(LEAST, 2 * column.length, number + 1));
  longer.set(column);
  return longer;
}

export const bytes = (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length);
export const integers = (length: number): Int32Array<ArrayBuffer> => new Int32Array(length);
export const floats = (length: number): Float64Array<ArrayBuffer> => new Float64Array(length);
