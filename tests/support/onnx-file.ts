// Tiny handmade models in the form that hubs have for browsers: a graph in ONNX's protobuf, a tokenizer, and the other files that
// transformers reads.
const textEncoder = new TextEncoder();

function encodeVarint(value: number): number[] {
  const out: number[] = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    if (rest < 128n) return [...out, Number(rest)];
    out.push(Number(rest & 127n) | 128);
  }
}

/** A field of a protobuf message: a number, or bytes (a text or nested message). */
function encodeField(id: number, value: number | string | Uint8Array): Uint8Array {
  if (typeof value === 'number') return Uint8Array.from([...encodeVarint(id * 8), ...encodeVarint(value)]);
  const bytes = typeof value === 'string' ? textEncoder.encode(value) : value;
  return concatBytes(Uint8Array.from([...encodeVarint(id * 8 + 2), ...encodeVarint(bytes.length)]), bytes);
}

function concatBytes(...parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const [FLOAT, INT64] = [1, 7];

/** `ValueInfoProto`: a tensor's name, type and shape; a text is a dimension that is not known yet. */
function encodeTensorInfo(name: string, type: number, shape: readonly (number | string)[]): Uint8Array {
  const dims = shape.map((size) => encodeField(1, typeof size === 'number' ? encodeField(1, size) : encodeField(2, size)));
  return concatBytes(
    encodeField(1, name),
    encodeField(2, encodeField(1, concatBytes(encodeField(1, type), encodeField(2, concatBytes(...dims))))),
  );
}

/** A graph of one node, which looks up each token's row of a table (`Gather`). */
function encodeTableGraph(output: string, rows: readonly (readonly number[])[]): Uint8Array {
  const width = rows[0]?.length ?? 0;
  const data = new Uint8Array(Float32Array.from(rows.flat()).buffer);
  const weights = concatBytes(
    encodeField(1, rows.length),
    encodeField(1, width),
    encodeField(2, FLOAT),
    encodeField(8, 'table'),
    encodeField(9, data),
  );
  const node = concatBytes(
    encodeField(1, 'table'),
    encodeField(1, 'input_ids'),
    encodeField(2, output),
    encodeField(3, 'gather'),
    encodeField(4, 'Gather'),
  );
  const shape = ['batch', 'length'];
  const graph = concatBytes(
    encodeField(1, node),
    encodeField(2, 'tiny'),
    encodeField(5, weights),
    encodeField(11, encodeTensorInfo('input_ids', INT64, shape)),
    encodeField(12, encodeTensorInfo(output, FLOAT, [...shape, width])),
  );
  // `ModelProto`: the format's version, the graph, the operators' version.
  return concatBytes(encodeField(1, 8), encodeField(7, graph), encodeField(8, encodeField(2, 14)));
}

const SPECIAL_TOKENS = ['<unk>', '<s>', '</s>', '<assistant>'];

function createTokenizer(words: readonly string[]): string {
  return JSON.stringify({
    version: '1.0',
    added_tokens: SPECIAL_TOKENS.map((content, id) => ({
      ...{ id, content, special: true, single_word: false, lstrip: false, rstrip: false, normalized: false },
    })),
    normalizer: null,
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: null,
    decoder: null,
    model: { type: 'WordLevel', vocab: Object.fromEntries(words.map((word, id) => [word, id])), unk_token: '<unk>' },
  });
}

const tokenizerConfig = (fields: object = {}): string =>
  JSON.stringify({
    ...{ tokenizer_class: 'PreTrainedTokenizerFast', unk_token: '<unk>', bos_token: '<s>', eos_token: '</s>', model_max_length: 256 },
    ...fields,
  });

const bytes = (files: Record<string, string | Uint8Array>): Record<string, Uint8Array> =>
  Object.fromEntries(Object.entries(files).map(([path, value]) => [path, typeof value === 'string' ? textEncoder.encode(value) : value]));

/** A model that answers everything with `reply`; `endless`: repeats it without end. */
export function createChatModel(reply: string, { endless = false, context = 256 } = {}): Record<string, Uint8Array> {
  const words = [...SPECIAL_TOKENS, ...new Set(reply.split(' '))];
  const tokenIds = reply.split(' ').map((word) => words.indexOf(word));
  const [first = 0] = tokenIds;
  const next = new Map([[3, first]]);
  for (const [index, id] of tokenIds.entries()) next.set(id, tokenIds[index + 1] ?? (endless ? first : 2));
  const rows = words.map((_, id) => words.map((__, column) => ((next.get(id) ?? 2) === column ? 10 : 0)));
  const template = `{% for message in messages %}{{ message['role'] + ': ' + message['content'] + ' ' }}{% endfor %}{% if add_generation_prompt %}{{ '<assistant>' }}{% endif %}`;
  return bytes({
    'config.json': JSON.stringify({
      ...{ model_type: 'llama', architectures: ['LlamaForCausalLM'], vocab_size: words.length, hidden_size: 8 },
      ...{ num_hidden_layers: 1, num_attention_heads: 1, num_key_value_heads: 1, max_position_embeddings: context },
      ...{ bos_token_id: 1, eos_token_id: 2 },
    }),
    'generation_config.json': JSON.stringify({ bos_token_id: 1, eos_token_id: 2 }),
    'tokenizer.json': createTokenizer(words),
    'tokenizer_config.json': tokenizerConfig({ chat_template: template }),
    'onnx/model_quantized.onnx': encodeTableGraph('logits', rows),
  });
}

/** A model that creates vectors of three numbers from the words that it knows. */
export function createVectorModel(words: Record<string, readonly [number, number, number]>): Record<string, Uint8Array> {
  const all = [...SPECIAL_TOKENS, ...Object.keys(words)];
  const rows = all.map((word) => words[word] ?? [0.01, 0.01, 0.01]);
  return bytes({
    'config.json': JSON.stringify({
      ...{ model_type: 'bert', architectures: ['BertModel'], vocab_size: all.length, hidden_size: 3 },
      ...{ num_hidden_layers: 1, num_attention_heads: 1, max_position_embeddings: 64 },
    }),
    'tokenizer.json': createTokenizer(all),
    'tokenizer_config.json': tokenizerConfig({ pad_token: '<unk>' }),
    '1_Pooling/config.json': JSON.stringify({ pooling_mode_mean_tokens: true }),
    'onnx/model_quantized.onnx': encodeTableGraph('last_hidden_state', rows),
  });
}
