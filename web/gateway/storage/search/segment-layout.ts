/** Number of documents per page of a segment's tables: a page stays below 64 KB, above which Chromium stores each value in a file. */
export const DOCS_PER_PAGE = 2048;
/** Bytes of one page of postings. */
export const POSTINGS_PAGE_BYTES = 32 * 1024;
/** Approximate bytes of a page of the dictionary. */
export const TERMS_PAGE_BYTES = 12 * 1024;

export const ROLES = ['user', 'assistant', 'system', 'tool'] as const;

/** A document's row in the tables of its segment. */
export interface DocRow {
  id: string;
  /** Index of its session in the segment. */
  session: number;
  /** Seconds since 1970. */
  time: number;
  /** Its role and approximate length in terms: see `encodeDoc`. */
  code: number;
}

/** Fields of each document that a search reads, as columns. `hash`: hash of its id. */
export interface DocColumns {
  session: Uint32Array;
  time: Uint32Array;
  hash: Uint32Array;
  code: Uint8Array;
}

/** Role and length in one byte: the length logarithmically, four steps per factor of two. */
export function encodeDoc(role: (typeof ROLES)[number], length: number): number {
  return (Math.max(0, ROLES.indexOf(role)) << 6) | Math.min(63, Math.round(4 * Math.log2(1 + length)));
}

/** Typical length for each length code. */
export const TYPICAL_LENGTHS: readonly number[] = Array.from({ length: 64 }, (_, code) => 2 ** (code / 4) - 1);

/** FNV-1a over UTF-16 code units. */
export function hashId(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

export function createColumns(length: number): DocColumns {
  return {
    session: new Uint32Array(length),
    time: new Uint32Array(length),
    hash: new Uint32Array(length),
    code: new Uint8Array(length),
  };
}

/** Encodes the columns of one page: 13 bytes for each document. */
export function packDocs(docs: readonly DocRow[]): Uint8Array<ArrayBuffer> {
  const { length } = docs;
  const numbers = new Uint32Array(3 * length);
  const bytes = new Uint8Array(13 * length);
  docs.forEach(({ id, session, time, code }, index) => {
    numbers[index] = session;
    numbers[length + index] = time;
    numbers[2 * length + index] = hashId(id);
    bytes[12 * length + index] = code;
  });
  bytes.set(new Uint8Array(numbers.buffer));
  return bytes;
}

/** Decodes such a page into the columns, starting at `start`. */
export function unpackDocs(columns: DocColumns, start: number, bytes: Uint8Array): void {
  const length = bytes.length / 13;
  const numbers = new Uint32Array(bytes.slice(0, 12 * length).buffer);
  columns.session.set(numbers.subarray(0, length), start);
  columns.time.set(numbers.subarray(length, 2 * length), start);
  columns.hash.set(numbers.subarray(2 * length), start);
  columns.code.set(bytes.subarray(12 * length), start);
}

const UUID_PATTERN = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** Encodes the ids of one page: 16 bytes each if all are UUIDs. */
export function packIds(ids: readonly string[]): Uint8Array<ArrayBuffer> | string[] {
  if (!ids.every((id) => UUID_PATTERN.test(id))) return [...ids];
  const bytes = new Uint8Array(16 * ids.length);
  ids.forEach((id, index) => {
    const hex = id.replaceAll('-', '');
    for (let i = 0; i < 16; i++) bytes[16 * index + i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  });
  return bytes;
}

export function unpackId(page: Uint8Array | readonly string[], index: number): string {
  if (!(page instanceof Uint8Array)) return page[index] ?? '';
  let hex = '';
  for (let i = 16 * index; i < 16 * index + 16; i++) hex += (page[i] ?? 0).toString(16).padStart(2, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A set of a page's documents, as a bitmap. */
export const hasBit = (bits: Uint8Array, index: number): boolean => ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
export const setBit = (bits: Uint8Array, index: number): void => void (bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7)));
