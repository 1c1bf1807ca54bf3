import { expect } from 'vitest';
import type { BrowserDtype } from '#shared/ports/browser-models-port.ts';
import { verifies } from '../../../tests/requirements.ts';
import { createCacheStorage } from '../../../tests/support/cache-storage.ts';
import { type HubFaults, startHubServer } from '../../../tests/support/hub-server.ts';
import { createChatModel, createVectorModel } from '../../../tests/support/onnx-file.ts';
import type { Fetch } from '../ports/fetch.ts';
import { selectModelFiles, type Processor, readConfig } from './select-model-files.ts';
import { type BrowserDownloadOptions, type BrowserDownloadProgress, downloadBrowserModel } from './model-download.ts';
import { BrowserHub } from './browser-hub.ts';
import { ModelStore, PART_BYTES } from './model-store.ts';

const REPO = 'perch/words';
const TINY = createChatModel('Hello there');
const createBigFile = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, index) => (index * 7 + (index >> 8)) % 251);
/** A little more than three parts. */
const BIG = { ...TINY, 'onnx/model_quantized.onnx': createBigFile(PART_BYTES * 3 + 1000) };

/** Like the bridge's egress: redirects are returned as responses. */
const createEgress: Fetch = (url, { headers = {}, signal }) => fetch(url, { headers, signal, redirect: 'manual' });
/** Like a browser's own `fetch`. */
const direct: Fetch = (url, { headers = {}, signal }) => fetch(url, { headers, signal });

async function createFixture(files: Record<string, Uint8Array> = TINY, faults: HubFaults = {}, way: Fetch = createEgress) {
  const server = await startHubServer({ [REPO]: files }, faults);
  const store = new ModelStore(createCacheStorage(), 'http://127.0.0.1:7333');
  const requestedPaths = new Set<string>();
  const base = server.env.HF_ENDPOINT;
  return {
    ...{ server, kept: store, asked: requestedPaths, base },
    get: (more: Partial<BrowserDownloadOptions> & { base?: string } = {}) =>
      downloadBrowserModel({
        hub: new BrowserHub({ base: more.base ?? base, fetch: way, onRequest: (origin) => requestedPaths.add(origin) }),
        ...{ store, repo: REPO, processor: 'cpu', signal: new AbortController().signal, waitMs: 1, silenceMs: 2000 },
        ...{ onprogress: () => {}, getFreeBytes: async () => null, now: () => 5 },
        ...more,
      }),
    async bytes(path: string) {
      const model = await store.find(REPO);
      const found = model && (await store.readFile(model, path));
      return found && new Uint8Array(await found.arrayBuffer());
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const MODEL = 'onnx/model_quantized.onnx';

verifies('browser-models/download', 'whole, by either way, with its progress told, listed and deleted', async () => {
  for (const way of [createEgress, direct]) {
    await using at = await createFixture(BIG, {}, way);
    const seen: BrowserDownloadProgress[] = [];
    const model = await at.get({ onprogress: (progress) => seen.push(progress) });
    expect(model).toMatchObject({ repo: REPO, task: 'text-generation', dtype: 'q8', graph: 'model', contextWindow: 256, keptAt: 5 });
    const total = Object.values(BIG).reduce((sum, { length }) => sum + length, 0);
    expect(seen.at(0)).toEqual({ file: 'config.json', received: 0, total });
    expect(seen.at(-1)).toEqual({ file: MODEL, received: total, total });
    expect(seen.every(({ received }, index) => received >= (seen[index - 1]?.received ?? 0))).toBe(true);
    for (const [path, bytes] of Object.entries(BIG))
      expect(Buffer.compare((await at.bytes(path)) ?? new Uint8Array(), bytes), path).toBe(0);
    expect(await at.kept.list()).toEqual([model]);
    // Redirects lead to the file servers, and a browser follows them silently.
    expect(at.asked.size).toBe(way === createEgress ? 2 : 1);
    const before = at.server.asked.length;
    await at.get();
    expect(at.server.asked.slice(before).map(({ path }) => path)).toEqual([`/api/models/${REPO}/tree/main?recursive=true`]);
    await at.kept.remove(REPO);
    expect(await at.kept.list()).toEqual([]);
    expect(await at.bytes('config.json')).toBeUndefined();
  }
});

verifies('browser-models/resume', 'broken off again and again: it goes on with the part that is missing', async () => {
  for (const ignoresRange of [false, true]) {
    await using at = await createFixture(BIG, { cutAfter: ignoresRange ? PART_BYTES * 2 + 10 : PART_BYTES + 10, ignoresRange });
    const failing = at.get();
    if (ignoresRange) await expect(failing).rejects.toThrow(/was interrupted|closed the connection/);
    else await failing;
    const ranges = at.server.asked.filter(({ store, path }) => store && path.includes('quantized')).map(({ range }) => range);
    expect(ranges.slice(0, 3)).toEqual([undefined, ...[ignoresRange ? 2 : 1, 2].map((parts) => `bytes=${PART_BYTES * parts}-`)]);
    delete at.server.faults.cutAfter;
    expect((await at.get()).keptAt).toBe(5);
    expect(Buffer.compare((await at.bytes(MODEL)) ?? new Uint8Array(), BIG[MODEL])).toBe(0);
  }
});

verifies('browser-models/resume', 'left off, it is not whole; another precision takes its place', async () => {
  await using at = await createFixture({ ...BIG, 'onnx/model.onnx': createBigFile(100) });
  const aborted = new AbortController();
  const onprogress = ({ file, received }: BrowserDownloadProgress): void =>
    void (file === MODEL && received > PART_BYTES * 2 && aborted.abort(new Error('left')));
  await expect(at.get({ signal: aborted.signal, onprogress })).rejects.toThrow('left');
  const [model] = await at.kept.list();
  expect(model).toMatchObject({ keptAt: null, dtype: 'q8' });
  expect(await at.kept.countStoredBytes(REPO, MODEL, BIG[MODEL].length)).toBeGreaterThan(0);
  expect(await at.bytes(MODEL)).toBeUndefined();
  expect(await at.get({ filename: 'model.onnx' })).toMatchObject({ dtype: 'fp32', keptAt: 5 });
  expect(await at.kept.countStoredBytes(REPO, MODEL, BIG[MODEL].length)).toBe(0);
});

verifies('browser-models/hostile-hub', 'one clear error each, and nothing that could be taken for a model', async () => {
  const faults: [HubFaults, RegExp][] = [
    [{ cutAfter: 0 }, /was interrupted|closed the connection after/],
    [{ endless: true }, /sent more than the \d+ bytes of config\.json/],
    [{ status: 404 }, /was not found on/],
    [{ status: 403 }, /denied access to/],
    [{ status: 429 }, /is limiting requests/],
    [{ status: 500 }, /failed \(HTTP 500\)/],
    [{ list: '<html>' }, /file list that couldn’t be read/],
    [{ list: '{"a":1}' }, /unexpected file list/],
    [{ list: `[${' '.repeat(17 * 1024 * 1024)}]` }, /file list that is too long/],
    [{ list: '[]' }, /has no config\.json/],
  ];
  for (const [fault, message] of faults) {
    await using at = await createFixture(TINY, fault);
    await expect(at.get(), JSON.stringify(fault).slice(0, 60)).rejects.toThrow(message);
    expect((await at.kept.list()).filter(({ keptAt }) => keptAt !== null)).toEqual([]);
  }
  await using at = await createFixture();
  await expect(at.get({ repo: '../x' })).rejects.toThrow(/is not a repository name/);
  await expect(at.get({ base: 'http://127.0.0.1:1' })).rejects.toThrow(/Couldn’t reach/);
  await expect(at.get({ getFreeBytes: async () => 1000 })).rejects.toThrow(/Not enough storage in this browser/);
  await expect(at.get({ filename: 'none.onnx' })).rejects.toThrow(
    /no ONNX file "none.onnx".*\. Available files: onnx\/model_quantized\.onnx/,
  );
});

verifies('browser-models/download', 'the precision that suits what runs it, with the files that belong to it', () => {
  const endings = ['', '_fp16', '_quantized', '_q4', '_q4f16', '_int8'];
  const base = [
    'config.json',
    'tokenizer.json',
    'tokenizer_config.json',
    'README.md',
    'onnx/model_q4.onnx_data',
    'onnx/model_q4.onnx_data_1',
    'model.safetensors',
  ];
  const files = [...base, ...endings.map((ending) => `onnx/model${ending}.onnx`)].map((path) => ({ path, size: 1 }));
  const selectDtype = (processor: Processor, filename?: string): BrowserDtype =>
    selectModelFiles(files, { repo: REPO, processor, filename }).dtype;
  expect([selectDtype('half'), selectDtype('gpu'), selectDtype('cpu'), selectDtype('cpu', 'model_fp16.onnx')]).toEqual([
    'q4f16',
    'q4',
    'q8',
    'fp16',
  ]);
  expect(selectModelFiles(files, { repo: REPO, processor: 'gpu' })).toMatchObject({
    graph: 'model',
    dataFiles: 2,
    files: [
      'config.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'onnx/model_q4.onnx',
      'onnx/model_q4.onnx_data',
      'onnx/model_q4.onnx_data_1',
    ].map((path) => ({ path, size: 1 })),
  });
  const configs: [object, object | RegExp][] = [
    [
      { architectures: ['Qwen3ForCausalLM'], max_position_embeddings: 40_960 },
      { task: 'text-generation', contextWindow: 40_960 },
    ],
    [
      { architectures: ['GPT2LMHeadModel'], n_positions: 1024 },
      { task: 'text-generation', contextWindow: 1024 },
    ],
    [{ architectures: ['BertModel'] }, { task: 'feature-extraction', contextWindow: null }],
    [
      { model_type: 'whisper', architectures: ['WhisperForConditionalGeneration'] },
      { task: 'automatic-speech-recognition', contextWindow: null },
    ],
    [{ model_type: 't5', architectures: ['T5ForConditionalGeneration'] }, /not a text, embedding or Whisper model/],
    [{}, /no architecture/],
  ];
  for (const [config, expected] of configs) {
    const read = () => readConfig(JSON.stringify(config), REPO);
    if (expected instanceof RegExp) expect(read).toThrow(expected);
    else expect(read()).toEqual(expected);
  }
  expect(() => readConfig('{', REPO)).toThrow(/Couldn’t read/);
  expect(Object.keys(createVectorModel({ a: [1, 0, 0] }))).toContain('1_Pooling/config.json');
});

verifies('browser-models/download', 'a speech model has two graphs, of one precision if there are both', () => {
  const files = [
    ...['config.json', 'tokenizer.json', 'tokenizer_config.json', 'preprocessor_config.json'],
    ...['', '_fp16', '_quantized', '_q4'].map((ending) => `onnx/encoder_model${ending}.onnx`),
    ...['', '_quantized', '_q4', '_q4f16'].map((ending) => `onnx/decoder_model_merged${ending}.onnx`),
    ...['onnx/encoder_model_q4.onnx_data', 'onnx/decoder_model.onnx'],
  ].map((path) => ({ path, size: 1 }));
  const select = (processor: Processor, filename?: string) => selectModelFiles(files, { repo: REPO, processor, filename });
  expect(select('cpu')).toEqual({
    ...{ repo: REPO, dtype: 'q8', encoderDtype: 'q8', graph: 'decoder_model_merged', dataFiles: 0 },
    files: [
      ...['config.json', 'tokenizer.json', 'tokenizer_config.json', 'preprocessor_config.json'],
      ...['onnx/encoder_model_quantized.onnx', 'onnx/decoder_model_merged_quantized.onnx'],
    ].map((path) => ({ path, size: 1 })),
  });
  expect(select('half')).toMatchObject({ dtype: 'q4f16', encoderDtype: 'q4' });
  expect(select('gpu').files.map(({ path }) => path)).toContain('onnx/encoder_model_q4.onnx_data');
  expect(select('cpu', 'decoder_model_merged.onnx')).toMatchObject({ dtype: 'fp32', encoderDtype: 'fp32' });
});
