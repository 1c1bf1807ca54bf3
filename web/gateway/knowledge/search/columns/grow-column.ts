type GrowableColumn = Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

const MIN_LENGTH = 64;

/** Returns the column, or a longer copy of it, with room for an index. */
export function growColumn<T extends GrowableColumn>(column: T, make: (length: number) => T, number: number): T {
  if (number < column.length) return column;
  const longer = make(Math.max(MIN_LENGTH, 2 * column.length, number + 1));
  longer.set(column);
  return longer;
}

export const createBytes = (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length);
export const createIntegers = (length: number): Int32Array<ArrayBuffer> => new Int32Array(length);
export const createFloats = (length: number): Float64Array<ArrayBuffer> => new Float64Array(length);
