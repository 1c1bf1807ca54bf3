import { open } from 'node:fs/promises';

/** Metadata from the header of a GGUF file. */
export interface GgufHeader {
  architecture: string;
  name: string | null;
  /** Context size in tokens that it was trained for. */
  contextLength: number | null;
  /** Bytes of memory per token of context. */
  bytesPerToken: number;
  /** Whether it has a chat template. */
  chats: boolean;
}

/** The file is not a GGUF file, or it is incomplete. */
export class GgufError extends Error {
  override name = 'GgufError';
}

const INITIAL_READ_BYTES = 1024 * 1024;
/** Maximum bytes of the header; vocabularies take some megabytes. */
const MAX_HEADER_BYTES = 256 * 1024 * 1024;
const MAX_ENTRIES = 100_000;
/** Maximum length of arrays to keep, such as heads per layer. Longer ones (vocabularies) are skipped. */
const MAX_ARRAY_LENGTH = 1024;

/** Bytes of a metadata value by its type; 8 is a string, 9 an array. */
const VALUE_BYTES = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];
const TYPE_STRING = 8;
const TYPE_ARRAY = 9;

/** Number of weights per block, and bytes per block, by tensor type. Unknown types are left to the runtime. */
const TENSOR_BLOCKS: Readonly<Record<number, readonly [weights: number, bytes: number]>> = {
  0: [1, 4],
  1: [1, 2],
  2: [32, 18],
  3: [32, 20],
  6: [32, 22],
  7: [32, 24],
  8: [32, 34],
  9: [32, 36],
  10: [256, 84],
  11: [256, 110],
  12: [256, 144],
  13: [256, 176],
  14: [256, 210],
  15: [256, 292],
  16: [256, 66],
  17: [256, 74],
  18: [256, 98],
  19: [256, 50],
  20: [32, 18],
  21: [256, 110],
  22: [256, 82],
  23: [256, 136],
  24: [1, 1],
  25: [1, 2],
  26: [1, 4],
  27: [1, 8],
  28: [1, 8],
  29: [256, 56],
  30: [1, 2],
  34: [256, 54],
  35: [256, 66],
  39: [32, 17],
};

type MetadataValue = number | string | number[] | undefined;

/** Reads the header of a GGUF file and checks it against the file's length. Throws GgufError with the problem. */
export async function readGgufHeader(path: string): Promise<GgufHeader> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    for (let length = INITIAL_READ_BYTES; ; length *= 4) {
      const bytes = Buffer.alloc(Math.min(length, size));
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      try {
        return parseHeader(new ByteReader(bytes.subarray(0, bytesRead), size));
      } catch (error) {
        if (!(error instanceof HeaderTruncatedError)) throw error;
        if (bytesRead >= size) throw new GgufError('the file is incomplete or damaged (its header is cut off)');
        if (length >= MAX_HEADER_BYTES) throw new GgufError('the file is damaged (its header is too long)');
      }
    }
  } finally {
    await file.close();
  }
}

/** The header is longer than the data read. */
class HeaderTruncatedError extends Error {}

class ByteReader {
  offset = 0;
  readonly size: number;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer, size: number) {
    this.#bytes = bytes;
    this.size = size;
  }

  readBytes(length: number): Buffer {
    if (length > this.size) throw new GgufError('the file is damaged (its header is invalid)');
    const end = this.offset + length;
    if (end > this.#bytes.length) throw new HeaderTruncatedError();
    const slice = this.#bytes.subarray(this.offset, end);
    this.offset = end;
    return slice;
  }

  uint32(): number {
    return this.readBytes(4).readUInt32LE();
  }

  uint64(): number {
    return Number(this.readBytes(8).readBigUInt64LE());
  }

  text(): string {
    return this.readBytes(this.uint64()).toString();
  }
}

function parseHeader(cursor: ByteReader): GgufHeader {
  if (cursor.size < 4 || cursor.readBytes(4).toString('latin1') !== 'GGUF') throw new GgufError('the file is not a GGUF file');
  const version = cursor.uint32();
  if (version !== 2 && version !== 3) throw new GgufError(`the file uses GGUF version ${version}. Only versions 2 and 3 are supported`);
  const tensors = cursor.uint64();
  const entries = cursor.uint64();
  if (tensors > MAX_ENTRIES || entries > MAX_ENTRIES) throw new GgufError('the file is damaged (its header is invalid)');
  const metadata = new Map<string, MetadataValue>();
  for (let index = 0; index < entries; index++) metadata.set(cursor.text(), readValue(cursor, cursor.uint32()));
  const ends = Array.from({ length: tensors }, () => readTensorEnd(cursor));
  const alignment = getNumber(metadata, 'general.alignment') ?? 32;
  const start = Math.ceil(cursor.offset / alignment) * alignment;
  const missingBytes = ends.reduce((most, end) => Math.max(most, end), 0) + start - cursor.size;
  if (!(missingBytes <= 0)) throw new GgufError('the file is incomplete or damaged (its weights are cut off)');
  return toGgufHeader(metadata);
}

function readValue(cursor: ByteReader, type: number): MetadataValue {
  if (type === TYPE_STRING) return cursor.text();
  if (type === TYPE_ARRAY) return readArray(cursor);
  const bytes = VALUE_BYTES[type];
  if (bytes === undefined) throw new GgufError('the file is damaged (its header has a value of unknown type)');
  return toNumber(cursor.readBytes(bytes), type);
}

function readArray(cursor: ByteReader): number[] | undefined {
  const type = cursor.uint32();
  const length = cursor.uint64();
  const bytes = VALUE_BYTES[type];
  if (bytes === undefined || type === TYPE_ARRAY) throw new GgufError('the file is damaged (its header has a list of unknown type)');
  if (type === TYPE_STRING) {
    if (length > cursor.size / 8) throw new GgufError('the file is damaged (its header is invalid)');
    for (let index = 0; index < length; index++) cursor.readBytes(cursor.uint64());
    return undefined;
  }
  const all = cursor.readBytes(bytes * length);
  if (length > MAX_ARRAY_LENGTH) return undefined;
  return Array.from({ length }, (_, index) => toNumber(all.subarray(index * bytes, (index + 1) * bytes), type));
}

function toNumber(bytes: Buffer, type: number): number {
  if (type === 6) return bytes.readFloatLE();
  if (type === 12) return bytes.readDoubleLE();
  if (type === 10) return Number(bytes.readBigUInt64LE());
  if (type === 11) return Number(bytes.readBigInt64LE());
  return type === 1 || type === 3 || type === 5 ? bytes.readIntLE(0, bytes.length) : bytes.readUIntLE(0, bytes.length);
}

/** Returns the end of a tensor's data, as an offset from the start of all tensor data. */
function readTensorEnd(cursor: ByteReader): number {
  cursor.text();
  const dimensions = cursor.uint32();
  if (dimensions > 4) throw new GgufError('the file is damaged (its header is invalid)');
  let weights = 1;
  for (let index = 0; index < dimensions; index++) weights *= cursor.uint64();
  const block = TENSOR_BLOCKS[cursor.uint32()];
  const offset = cursor.uint64();
  return offset + (block ? Math.ceil(weights / block[0]) * block[1] : 0);
}

function toGgufHeader(metadata: ReadonlyMap<string, MetadataValue>): GgufHeader {
  const architecture = metadata.get('general.architecture');
  if (typeof architecture !== 'string' || architecture === '')
    throw new GgufError('the file is damaged (its model architecture is missing)');
  const getOwnNumber = (name: string): number | undefined => getNumber(metadata, `${architecture}.${name}`);
  const name = metadata.get('general.name');
  const heads = getOwnNumber('attention.head_count') ?? 1;
  const each = (getOwnNumber('embedding_length') ?? 0) / Math.max(1, heads);
  const width = (getOwnNumber('attention.key_length') ?? each) + (getOwnNumber('attention.value_length') ?? each);
  return {
    architecture,
    name: typeof name === 'string' && name !== '' ? name.slice(0, 200) : null,
    contextLength: getOwnNumber('context_length') ?? null,
    // Keys and values of all layers, two bytes each.
    bytesPerToken: (getOwnNumber('block_count') ?? 0) * (getOwnNumber('attention.head_count_kv') ?? heads) * width * 2,
    chats: metadata.has('tokenizer.chat_template'),
  };
}

/** For arrays with a value per layer, returns the largest. */
function getNumber(metadata: ReadonlyMap<string, MetadataValue>, key: string): number | undefined {
  const value = metadata.get(key);
  const found = Array.isArray(value) ? Math.max(...value) : value;
  return typeof found === 'number' && Number.isFinite(found) && found > 0 ? found : undefined;
}
