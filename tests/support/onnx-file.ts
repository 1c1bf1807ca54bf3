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

/** `NodeProto`: an operation on named tensors. */
const encodeNode = (operation: string, inputs: readonly string[], output: string): Uint8Array =>
  concatBytes(...inputs.map((input) => encodeField(1, input)), encodeField(2, output), encodeField(3, output), encodeField(4, operation));

/** `TensorProto`: rows of weights of equal length. */
const encodeWeights = (name: string, rows: readonly (readonly number[])[]): Uint8Array =>
  concatBytes(
    encodeField(1, rows.length),
    encodeField(1, rows[0]?.length ?? 0),
    encodeField(2, FLOAT),
    encodeField(8, name),
    encodeField(9, new Uint8Array(Float32Array.from(rows.flat()).buffer)),
  );

/** `ModelProto`: the format's version, the graph, the operators' version. */
function encodeModel(nodes: readonly Uint8Array[], weights: readonly Uint8Array[], inputs: readonly Uint8Array[], output: Uint8Array) {
  const graph = concatBytes(
    ...nodes.map((node) => encodeField(1, node)),
    encodeField(2, 'tiny'),
    ...weights.map((tensor) => encodeField(5, tensor)),
    ...inputs.map((input) => encodeField(11, input)),
    encodeField(12, output),
  );
  return concatBytes(encodeField(1, 8), encodeField(7, graph), encodeField(8, encodeField(2, 14)));
}

const TOKENS_SHAPE = ['batch', 'length'];

/** A graph of one node, which looks up each token's row of a table (`Gather`). */
const encodeTableGraph = (output: string, rows: readonly (readonly number[])[]): Uint8Array =>
  encodeModel(
    [encodeNode('Gather', ['table', 'input_ids'], output)],
    [encodeWeights('table', rows)],
    [encodeTensorInfo('input_ids', INT64, TOKENS_SHAPE)],
    encodeTensorInfo(output, FLOAT, [...TOKENS_SHAPE, rows[0]?.length ?? 0]),
  );

const SPECIAL_TOKENS = ['<unk>', '<s>', '</s>', '<assistant>'];

function createTokenizer(words: readonly string[], specialTokens: readonly string[] = SPECIAL_TOKENS): string {
  return JSON.stringify({
    version: '1.0',
    added_tokens: words.flatMap((content, id) =>
      specialTokens.includes(content)
        ? [{ id, content, special: true, single_word: false, lstrip: false, rstrip: false, normalized: false }]
        : [],
    ),
    normalizer: null,
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: null,
    decoder: null,
    model: { type: 'WordLevel', vocab: Object.fromEntries(words.map((word, id) => [word, id])), unk_token: specialTokens[0] },
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

/**
 * A Whisper model that writes one text for sound and another for silence: its encoder takes the loudest value of the spectrogram, which is
 * above 0 for sound. It hears German in sound and English in silence. A translation is "in English".
 */
export function createSpeechModel(sound: string, silence: string): Record<string, Uint8Array> {
  const texts = [sound, silence, 'in English'].map((text) => text.split(' '));
  const words = [...new Set(texts.flat())];
  const marks = ['endoftext', 'startoftranscript', 'en', 'de', 'translate', 'transcribe', 'notimestamps'];
  const specialTokens = marks.map((name) => `<|${name}|>`);
  // Times up to 1 s, of 20 ms each.
  const times = Array.from({ length: 51 }, (_, index) => `<|${(index * 0.02).toFixed(2)}|>`);
  const tokens = [...words, ...specialTokens, ...times];
  const getId = (token: string): number => tokens.indexOf(token);
  const getMarkId = (name: string): number => getId(`<|${name}|>`);
  const follow = new Map<number, number[]>();
  const addPath = (path: readonly number[]): void =>
    path.slice(1).forEach((id, index) => follow.set(path[index] ?? 0, [...(follow.get(path[index] ?? 0) ?? []), id]));
  const [soundIds = [], silenceIds = [], englishIds = []] = texts.map((text) => text.map(getId));
  const end = [getId('<|0.50|>'), getMarkId('endoftext')];
  addPath([getMarkId('transcribe'), getId('<|0.00|>'), ...soundIds, ...end]);
  addPath([getId('<|0.00|>'), ...silenceIds, getId('<|0.50|>')]);
  addPath([getMarkId('translate'), getId('<|0.02|>'), ...englishIds, getId('<|0.50|>')]);
  addPath([getMarkId('startoftranscript'), getMarkId('de')]);
  addPath([getMarkId('startoftranscript'), getMarkId('en')]);
  const rows = tokens.map((_, id) => tokens.map((__, column) => (follow.get(id)?.includes(column) ? 10 : 0)));
  const forSound = [...soundIds, getMarkId('de')];
  const forSilence = [...silenceIds, getMarkId('en')];
  const loudness = tokens.map((_, id) => (forSound.includes(id) ? 1 : 0) - (forSilence.includes(id) ? 1 : 0));
  const hidden = ['batch', 'positions', 'values'];
  return bytes({
    'config.json': JSON.stringify({
      ...{ model_type: 'whisper', architectures: ['WhisperForConditionalGeneration'], is_encoder_decoder: true },
      ...{ vocab_size: tokens.length, d_model: 1, encoder_layers: 1, decoder_layers: 1, num_mel_bins: 80 },
      ...{ encoder_attention_heads: 1, decoder_attention_heads: 1, max_source_positions: 1500, max_target_positions: 64 },
      ...{ decoder_start_token_id: getMarkId('startoftranscript'), eos_token_id: getMarkId('endoftext') },
    }),
    'generation_config.json': JSON.stringify({
      ...{ decoder_start_token_id: getMarkId('startoftranscript'), eos_token_id: getMarkId('endoftext'), max_length: 64 },
      ...{ is_multilingual: true, no_timestamps_token_id: getMarkId('notimestamps') },
      lang_to_id: { '<|en|>': getMarkId('en'), '<|de|>': getMarkId('de') },
      task_to_id: { transcribe: getMarkId('transcribe'), translate: getMarkId('translate') },
    }),
    'preprocessor_config.json': JSON.stringify({
      ...{ feature_extractor_type: 'WhisperFeatureExtractor', processor_class: 'WhisperProcessor', sampling_rate: 16_000 },
      ...{ chunk_length: 30, feature_size: 80, hop_length: 160, n_fft: 400, n_samples: 480_000, nb_max_frames: 3000, padding_value: 0 },
    }),
    'tokenizer.json': createTokenizer(tokens, specialTokens),
    'tokenizer_config.json': tokenizerConfig({
      ...{ tokenizer_class: 'WhisperTokenizer', unk_token: '<|endoftext|>', bos_token: '<|endoftext|>', eos_token: '<|endoftext|>' },
    }),
    'onnx/encoder_model_quantized.onnx': encodeModel(
      [encodeNode('ReduceMax', ['input_features'], 'last_hidden_state')],
      [],
      [encodeTensorInfo('input_features', FLOAT, ['batch', 'mels', 'frames'])],
      encodeTensorInfo('last_hidden_state', FLOAT, hidden),
    ),
    'onnx/decoder_model_merged_quantized.onnx': encodeModel(
      [
        encodeNode('Gather', ['table', 'input_ids'], 'next'),
        encodeNode('MatMul', ['encoder_hidden_states', 'loudness'], 'heard'),
        encodeNode('Add', ['next', 'heard'], 'logits'),
      ],
      [encodeWeights('table', rows), encodeWeights('loudness', [loudness])],
      [encodeTensorInfo('input_ids', INT64, TOKENS_SHAPE), encodeTensorInfo('encoder_hidden_states', FLOAT, hidden)],
      encodeTensorInfo('logits', FLOAT, [...TOKENS_SHAPE, tokens.length]),
    ),
  });
}
