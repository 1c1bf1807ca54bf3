/** Options of a tiny model; the same seed produces the same bytes. */
export interface GgufOptions {
  seed?: number;
  /** Context size in tokens that the model was trained for, according to the file. */
  contextSize?: number;
  /** A Jinja template; by default the file has none. */
  chatTemplate?: string;
  name?: string;
}

const LAYERS = 2;
const WIDTH = 64;
const HEADS = 4;
const HIDDEN = 128;
const ALIGNMENT = 32;

/** Types of metadata values, as the format numbers them. */
const UINT32 = 4;
const INT32 = 5;
const FLOAT32 = 6;
const STRING = 8;
const ARRAY = 9;
/** Types of tokens. */
const [NORMAL, UNKNOWN, CONTROL, BYTE] = [1, 2, 3, 6];

type MetadataValue =
  { uint: number } | { float: number } | { text: string } | { texts: string[] } | { ints: number[] } | { floats: number[] };

/**
 * A GGUF file (version 3) of a llama with random weights: two layers, a vocabulary of bytes, letters and a few words, half a megabyte. It loads and runs like any
 * other, and says nothing sensible.
 */
export function createGgufFile({ seed = 1, contextSize = 2048, chatTemplate, name = 'tiny' }: GgufOptions = {}): Uint8Array {
  const tokens = createVocabulary();
  const random = createRandom(seed);
  const metadata: [string, MetadataValue][] = [
    ['general.architecture', { text: 'llama' }],
    ['general.name', { text: name }],
    ['general.alignment', { uint: ALIGNMENT }],
    ['llama.context_length', { uint: contextSize }],
    ['llama.embedding_length', { uint: WIDTH }],
    ['llama.block_count', { uint: LAYERS }],
    ['llama.feed_forward_length', { uint: HIDDEN }],
    ['llama.attention.head_count', { uint: HEADS }],
    ['llama.attention.head_count_kv', { uint: HEADS }],
    ['llama.attention.layer_norm_rms_epsilon', { float: 1e-5 }],
    ['llama.rope.dimension_count', { uint: WIDTH / HEADS }],
    ['llama.vocab_size', { uint: tokens.length }],
    ['tokenizer.ggml.model', { text: 'llama' }],
    ['tokenizer.ggml.tokens', { texts: tokens.map(({ text }) => text) }],
    ['tokenizer.ggml.scores', { floats: tokens.map((_, index) => -index) }],
    ['tokenizer.ggml.token_type', { ints: tokens.map(({ type }) => type) }],
    ['tokenizer.ggml.unknown_token_id', { uint: 0 }],
    ['tokenizer.ggml.bos_token_id', { uint: 1 }],
    ['tokenizer.ggml.eos_token_id', { uint: 2 }],
    ...(chatTemplate === undefined ? [] : [['tokenizer.chat_template', { text: chatTemplate }] satisfies [string, MetadataValue]]),
  ];
  const tensors = createTensors(tokens.length);
  let offset = 0;
  const placed = tensors.map((tensor) => {
    const at = offset;
    offset += padToAlignment(countElements(tensor.shape) * 4);
    return { ...tensor, at };
  });
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    encodeUint32(3),
    encodeUint64(tensors.length),
    encodeUint64(metadata.length),
    ...metadata.flatMap(([key, value]) => [encodeText(key), ...encodeValue(value)]),
    ...placed.flatMap(({ name: tensor, shape, at }) => [
      encodeText(tensor),
      encodeUint32(shape.length),
      ...shape.map(encodeUint64),
      encodeUint32(0),
      encodeUint64(at),
    ]),
  ]);
  const start = padToAlignment(head.length);
  const file = new Uint8Array(start + offset);
  file.set(head);
  const data = new DataView(file.buffer, start);
  for (const { shape, at, norm } of placed) {
    for (let index = 0; index < countElements(shape); index++) data.setFloat32(at + index * 4, norm ? 1 : (random() - 0.5) * 0.4, true);
  }
  return file;
}

function createVocabulary(): { text: string; type: number }[] {
  const normal = (each: string): { text: string; type: number } => ({ text: each, type: NORMAL });
  return [
    { text: '<unk>', type: UNKNOWN },
    { text: '<s>', type: CONTROL },
    { text: '</s>', type: CONTROL },
    ...Array.from({ length: 256 }, (_, byte) => ({ text: `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, type: BYTE })),
    ...Array.from({ length: 0x7e - 0x20 }, (_, code) => normal(code === 0 ? '\u2581' : String.fromCharCode(0x20 + code))),
  ];
}

function createTensors(words: number): { name: string; shape: number[]; norm: boolean }[] {
  const matrix = (name: string, ...shape: number[]) => ({ name: `${name}.weight`, shape, norm: false });
  const norm = (name: string) => ({ name: `${name}.weight`, shape: [WIDTH], norm: true });
  return [
    matrix('token_embd', WIDTH, words),
    norm('output_norm'),
    matrix('output', WIDTH, words),
    ...Array.from({ length: LAYERS }, (_, layer) => [
      norm(`blk.${layer}.attn_norm`),
      ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((name) => matrix(`blk.${layer}.${name}`, WIDTH, WIDTH)),
      norm(`blk.${layer}.ffn_norm`),
      matrix(`blk.${layer}.ffn_gate`, WIDTH, HIDDEN),
      matrix(`blk.${layer}.ffn_up`, WIDTH, HIDDEN),
      matrix(`blk.${layer}.ffn_down`, HIDDEN, WIDTH),
    ]).flat(),
  ];
}

function encodeValue(value: MetadataValue): Buffer[] {
  if ('uint' in value) return [encodeUint32(UINT32), encodeUint32(value.uint)];
  if ('float' in value) return [encodeUint32(FLOAT32), encodeFloat32(value.float)];
  if ('text' in value) return [encodeUint32(STRING), encodeText(value.text)];
  if ('texts' in value) return [...encodeArray(STRING, value.texts.length), ...value.texts.map(encodeText)];
  if ('ints' in value) return [...encodeArray(INT32, value.ints.length), ...value.ints.map(encodeUint32)];
  return [...encodeArray(FLOAT32, value.floats.length), ...value.floats.map(encodeFloat32)];
}

const encodeArray = (type: number, length: number): Buffer[] => [encodeUint32(ARRAY), encodeUint32(type), encodeUint64(length)];
const countElements = (shape: readonly number[]): number => shape.reduce((product, side) => product * side, 1);
const padToAlignment = (size: number): number => Math.ceil(size / ALIGNMENT) * ALIGNMENT;

function encodeUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function encodeUint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function encodeFloat32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function encodeText(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([encodeUint64(bytes.length), bytes]);
}

/** Numbers from 0 to 1 (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
