// Tiny handmade models in the form that hubs have for browsers: a graph in ONNX's protobuf, a tokenizer, and the other files that
// transformers reads.
const encoder = new TextEncoder();

function varint(value: number): number[] {
  const out: number[] = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    if (rest < 128n) return [...out, Number(rest)];
    out.push(Number(rest & 127n) | 128);
  }
}

/** A field of a protobuf message: a number, or bytes (a text, a message of its own). */
function field(id: number, value: number | string | Uint8Array): Uint8Array {
  if (typeof value === 'number') return Uint8Array.from([...varint(id * 8), ...varint(value)]);
  const bytes = typeof value === 'string' ? encoder.encode(value) : value;
  return joined(Uint8Array.from([...varint(id * 8 + 2), ...varint(bytes.length)]), bytes);
}

function joined(...parts: Uint8Array[]): Uint8Array {
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
function tensor(name: string, type: number, shape: readonly (number | string)[]): Uint8Array {
  const dims = shape.map((size) => field(1, typeof size === 'number' ? field(1, size) : field(2, size)));
  return joined(field(1, name), field(2, field(1, joined(field(1, type), field(2, joined(...dims))))));
}

/** A graph of one node: each token's row of a table (`Gather`). */
function tableGraph(output: string, rows: readonly (readonly number[])[]): Uint8Array {
  const width = rows[0]?.length ?? 0;
  const data = new Uint8Array(Float32Array.from(rows.flat()).buffer);
  const weights = joined(field(1, rows.length), field(1, width), field(2, FLOAT), field(8, 'table'), field(9, data));
  const node = joined(field(1, 'table'), field(1, 'input_ids'), field(2, output), field(3, 'gather'), field(4, 'Gather'));
  const shape = ['batch', 'length'];
  const graph = joined(
    field(1, node),
    field(2, 'tiny'),
    field(5, weights),
    field(11, tensor('input_ids', INT64, shape)),
    field(12, tensor(output, FLOAT, [...shape, width])),
  );
  // ModelProto: the format's version, the graph, the operators' version.
  return joined(field(1, 8), field(7, graph), field(8, field(2, 14)));
}

const SPECIAL = ['<unk>', '<s>', '</s>', '<assistant>'];

function tokenizer(words: readonly string[]): string {
  return JSON.stringify({
    version: '1.0',
    added_tokens: SPECIAL.map((content, id) => ({
      ...{ id, content, special: true, single_word: false, lstrip: false, rstrip: false, normalized: false },
    })),
    normalizer: null,
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: null,
    decoder: null,
    model: { type: 'WordLevel', vocab: Object.fromEntries(words.map((word, id) => [word, id])), unk_token: '<unk>' },
  });
}

const tokenizerConfig = (more: object = {}): string =>
  JSON.stringify({
    ...{ tokenizer_class: 'PreTrainedTokenizerFast', unk_token: '<unk>', bos_token: '<s>', eos_token: '</s>', model_max_length: 256 },
    ...more,
  });

const bytes = (files: Record<string, string | Uint8Array>): Record<string, Uint8Array> =>
  Object.fromEntries(Object.entries(files).map(([path, value]) => [path, typeof value === 'string' ? encoder.encode(value) : value]));

/** A model that says `says` to everything, and then ends; `endless`: begins again, for as long as it is let. */
export function chatModel(says: string, { endless = false, context = 256 } = {}): Record<string, Uint8Array> {
  const words = [...SPECIAL, ...new Set(says.split(' '))];
  const said = says.split(' ').map((word) => words.indexOf(word));
  const [first = 0] = said;
  const next = new Map([[3, first]]);
  for (const [index, id] of said.entries()) next.set(id, said[index + 1] ?? (endless ? first : 2));
  const rows = words.map((_, id) => words.map((__, column) => ((next.get(id) ?? 2) === column ? 10 : 0)));
  const template = `{% for message in messages %}{{ message['role'] + ': ' + message['content'] + ' ' }}{% endfor %}{% if add_generation_prompt %}{{ '<assistant>' }}{% endif %}`;
  return bytes({
    'config.json': JSON.stringify({
      ...{ model_type: 'llama', architectures: ['LlamaForCausalLM'], vocab_size: words.length, hidden_size: 8 },
      ...{ num_hidden_layers: 1, num_attention_heads: 1, num_key_value_heads: 1, max_position_embeddings: context },
      ...{ bos_token_id: 1, eos_token_id: 2 },
    }),
    'generation_config.json': JSON.stringify({ bos_token_id: 1, eos_token_id: 2 }),
    'tokenizer.json': tokenizer(words),
    'tokenizer_config.json': tokenizerConfig({ chat_template: template }),
    'onnx/model_quantized.onnx': tableGraph('logits', rows),
  });
}

/** A model that makes vectors of three numbers, of the words that it knows. */
export function vectorModel(words: Record<string, readonly [number, number, number]>): Record<string, Uint8Array> {
  const all = [...SPECIAL, ...Object.keys(words)];
  const rows = all.map((word) => words[word] ?? [0.01, 0.01, 0.01]);
  return bytes({
    'config.json': JSON.stringify({
      ...{ model_type: 'bert', architectures: ['BertModel'], vocab_size: all.length, hidden_size: 3 },
      ...{ num_hidden_layers: 1, num_attention_heads: 1, max_position_embeddings: 64 },
    }),
    'tokenizer.json': tokenizer(all),
    'tokenizer_config.json': tokenizerConfig({ pad_token: '<unk>' }),
    '1_Pooling/config.json': JSON.stringify({ pooling_mode_mean_tokens: true }),
    'onnx/model_quantized.onnx': tableGraph('last_hidden_state', rows),
  });
}
