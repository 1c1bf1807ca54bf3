import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { contracts } from '#shared/rpc/methods/index.ts';
import { z } from '#shared/rpc/zod.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { writeWav } from '#shared/wav.ts';
import { createFakeSpeechEngine } from '../support/fake-speech-engine.ts';
import { startHubServer } from '../support/hub-server.ts';
import { createChatModel, createSpeechModel, createVectorModel } from '../support/onnx-file.ts';
import { waitForConnection } from './connection-status.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { type Perch, startPerch } from './perch-process.ts';
import { connectOutside, type OutsideClient } from './outside-client.ts';

const GRAPH = 'onnx/model_quantized.onnx';
const REPOS = {
  'perch/words': createChatModel('Hello from this very tab'),
  'perch/circle': createChatModel('round and', { endless: true, context: 100_000 }),
  // The response reveals which of its graphs ran: the one for graphics processors is endless.
  'perch/both': {
    ...createChatModel('Hello you'),
    'onnx/model_q4.onnx': createChatModel('Hello you', { endless: true })[GRAPH] ?? new Uint8Array(),
  },
  'perch/ears': createSpeechModel('guten Tag', 'nothing here'),
  'perch/vectors': createVectorModel({ red: [1, 0, 0], green: [0, 1, 0], scarlet: [0.9, 0.1, 0] }),
};
const completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }), finish_reason: z.string() })),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }),
});
const embeddings = z.object({
  data: z.array(z.object({ embedding: z.array(z.number()) })),
  usage: z.object({ prompt_tokens: z.number() }),
});

const transcript = z.object({
  ...{ text: z.string(), language: z.string(), duration: z.number() },
  segments: z.array(z.record(z.string(), z.unknown())),
});

const postCompletion = (perch: Perch, path: string, body: object, init: RequestInit = {}): Promise<Response> =>
  perch.fetch(`/v1/${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body), ...init });

/** A tab that hosts, a hub that is this machine's, and a client outside. */
async function createBrowserModelFixture(
  host: 'tab' | 'auto' = 'tab',
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
) {
  const parts = new AsyncDisposableStack();
  const hub = parts.use(await startHubServer(REPOS));
  const perch = parts.use(await startPerch({ host, env }));
  const browser = host === 'tab' ? parts.use(await launchBrowser({ args })) : undefined;
  const page = await browser?.page(perch.linkUrl);
  await waitFor(async () => (await perch.fetch('/v1/models')).ok, 'a host', 30_000);
  const outside = parts.adopt(await connectOutside(perch), (each) => each[Symbol.dispose]());
  await outside.client.call('config.patch', { patch: { models: { hub: hub.env.HF_ENDPOINT } } });
  return { hub, perch, page, browser, outside, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** Downloads a model into the host's browser and resolves with how that ended. */
async function download({ client }: Pick<OutsideClient, 'client'>, repo: string) {
  const { id } = await client.call('models.download', { repo, backend: 'browser' });
  const getModelState = async () =>
    contracts['models.downloads'].result.parse(await client.call('models.downloads', {})).downloads.find((each) => each.id === id);
  await waitFor(async () => (await getModelState())?.state !== 'running', `${repo} to be here`, 30_000);
  return getModelState();
}

const askModel = (perch: Perch, model: string, more: object = {}, init: RequestInit = {}): Promise<Response> =>
  postCompletion(perch, 'chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }], ...more }, init);

const expectNoComplaints = ({ complaints, foreignRequests }: TestBrowser): void => {
  expect(complaints).toEqual([]);
  expect(foreignRequests).toEqual([]);
};

verifies(
  ['browser-models/answer', 'browser-models/embed', 'browser-models/self-hosted', 'browser-models/abort'],
  'downloaded from a hub into a tab, asked by /v1, with nothing from elsewhere',
  async () => {
    await using at = await createBrowserModelFixture();
    const { hub, perch, page, browser, outside } = at;
    expect(await download(outside, 'perch/words')).toMatchObject({ state: 'done', modelId: 'perch/words' });
    const listed = contracts['models.list'].result.parse(await outside.client.call('models.list', {})).models;
    expect(listed.find(({ key }) => key === 'browser/perch/words')).toMatchObject({
      provider: 'browser',
      context_window: 256,
      supports_tools: false,
      cost_per_1m_input: 0,
    });
    const reply = completion.parse(await (await askModel(perch, 'browser/perch/words')).json());
    expect(reply.choices).toEqual([
      expect.objectContaining({
        message: expect.objectContaining({ content: 'Hello from this very tab' }) as unknown,
        finish_reason: 'stop',
      }),
    ]);
    // "user:", "Hi" and the assistant's mark; five words and the end.
    expect(reply.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 6 });
    const cut = completion.parse(await (await askModel(perch, 'browser/perch/words', { max_tokens: 2 })).json());
    expect(cut.choices[0]).toMatchObject({ message: { content: 'Hello from' }, finish_reason: 'length' });
    const stopped = completion.parse(await (await askModel(perch, 'browser/perch/words', { stop: ['very'] })).json());
    expect(stopped.choices[0]).toMatchObject({ message: { content: 'Hello from this ' }, finish_reason: 'stop' });
    const streamed = await (await askModel(perch, 'browser/perch/words', { stream: true })).text();
    expect(streamed.match(/"content":"[^"]/g)?.length).toBeGreaterThan(2);
    expect(page?.workers()).toHaveLength(1);

    expect(await download(outside, 'perch/vectors')).toMatchObject({ state: 'done' });
    const body = { model: 'browser/perch/vectors', input: ['red', 'scarlet', 'green', 'red green'] };
    const { data, usage } = embeddings.parse(await (await postCompletion(perch, 'embeddings', body)).json());
    const [red = [], scarlet = [], green = [], both = []] = data.map(({ embedding }) => embedding);
    const near = (a: number[], b: number[]): number => a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
    expect(near(red, red)).toBeCloseTo(1, 4);
    expect(near(red, scarlet)).toBeGreaterThan(0.9);
    expect(near(red, green)).toBeCloseTo(0, 4);
    expect(near(both, red)).toBeCloseTo(Math.SQRT1_2, 4);
    expect(usage.prompt_tokens).toBe(5);
    // Another model has taken the place.
    expect(page?.workers()).toHaveLength(1);

    expect(await download(outside, 'perch/circle')).toMatchObject({ state: 'done' });
    const leave = new AbortController();
    const endless = await askModel(perch, 'browser/perch/circle', { stream: true }, { signal: leave.signal });
    const reader = endless.body?.getReader();
    await reader?.read();
    leave.abort();
    // The first one stops, and the next one runs in the same worker.
    const next = completion.parse(await (await askModel(perch, 'browser/perch/circle', { max_tokens: 3 })).json());
    expect(next.choices[0]?.message.content).toBe('round and round');
    expect(page?.workers()).toHaveLength(1);

    for (const [model, more, status] of [
      ['perch/none', {}, 404],
      ['perch/vectors', {}, 400],
      ['perch/words', { messages: [{ role: 'user', content: 'long '.repeat(300) }] }, 400],
      ['perch/words', { response_format: { type: 'json_object' } }, 400],
      ['perch/words', { seed: 1 }, 200],
    ] as const)
      expect([model, (await askModel(perch, `browser/${model}`, more)).status]).toEqual([model, status]);
    expect(hub.asked.every(({ token }) => token === undefined)).toBe(true);
    if (browser) expectNoComplaints(browser);
  },
  120_000,
);

verifies(
  ['browser-models/answer', 'browser-models/gone'],
  'kept through a restart of the browser, run in whatever page there is, deleted',
  async () => {
    await using at = await createBrowserModelFixture();
    const { hub, perch, page, browser, outside } = at;
    await download(outside, 'perch/words');
    const requestCount = hub.asked.length;
    expect((await askModel(perch, 'browser/perch/words')).status).toBe(200);
    // The page that runs it goes; another one takes over.
    const second = await browser?.page(perch.url);
    if (second) await waitForConnection(second, /./);
    await page?.close();
    await waitFor(async () => (await askModel(perch, 'browser/perch/words')).ok, 'the other page to run it', 20_000);
    expect(second?.workers()).toHaveLength(1);
    await browser?.reopen();
    await browser?.page(await perch.open());
    await waitFor(async () => (await perch.fetch('/v1/models')).ok, 'a host', 30_000);
    using again = await connectOutside(perch);
    const reply = completion.parse(await (await askModel(perch, 'browser/perch/words')).json());
    expect(reply.choices[0]?.message.content).toBe('Hello from this very tab');
    expect(hub.asked).toHaveLength(requestCount);
    expect(await again.client.call('models.select', { modelId: 'perch/words' })).toEqual({ selected: 'browser/perch/words' });
    const { sizeBytes } = contracts['models.deleteLocal'].result.parse(
      await again.client.call('models.deleteLocal', { modelId: 'perch/words' }),
    );
    expect(sizeBytes).toBe(Object.values(REPOS['perch/words']).reduce((sum, { length }) => sum + length, 0));
    expect((await askModel(perch, 'browser/perch/words')).status).toBe(404);
  },
  120_000,
);

verifies(
  'browser-models/answer',
  'in the managed browser, where no tab is open',
  async () => {
    await using at = await createBrowserModelFixture('auto');
    const { perch, outside } = at;
    await download(outside, 'perch/words');
    const reply = completion.parse(await (await askModel(perch, 'browser/perch/words')).json());
    expect(reply.choices[0]?.message.content).toBe('Hello from this very tab');
  },
  90_000,
);

verifies(
  'browser-models/download',
  'by WebGPU where there is a graphics processor, here one of software',
  async () => {
    await using at = await createBrowserModelFixture('tab', [
      '--enable-unsafe-webgpu',
      '--use-webgpu-adapter=swiftshader',
      '--enable-features=Vulkan',
      '--use-vulkan=swiftshader',
    ]);
    const { hub, perch, page, browser, outside } = at;
    const gpu = await page?.evaluate(
      async () => (await (navigator as { gpu?: { requestAdapter(): Promise<unknown> } }).gpu?.requestAdapter()) != null,
    );
    expect(await download(outside, 'perch/both')).toMatchObject({ state: 'done' });
    const onnxRequests = hub.asked.map(({ path }) => path).filter((path) => path.endsWith('.onnx'));
    expect(onnxRequests.every((path) => path.endsWith(gpu ? 'model_q4.onnx' : 'model_quantized.onnx'))).toBe(true);
    const reply = completion.parse(await (await askModel(perch, 'browser/perch/both', { max_tokens: 4 })).json());
    expect(reply.choices[0]?.message.content).toBe(gpu ? 'Hello you Hello you' : 'Hello you');
    if (browser) expectNoComplaints(browser);
  },
  90_000,
);

verifies(
  ['browser-models/transcribe', 'http.media/local-transcription', 'http.media/encoded-voices'],
  'speech of Perch’s own voice, encoded and transcribed in the same browser',
  async () => {
    using engine = createFakeSpeechEngine();
    await using at = await createBrowserModelFixture('tab', [], { PATH: engine.path });
    const { hub, perch, browser, outside } = at;
    expect(await download(outside, 'perch/ears')).toMatchObject({ state: 'done' });
    expect(hub.asked.filter(({ store, path }) => store && path.endsWith('.onnx'))).toHaveLength(2);
    const speak = (format: string): Promise<Response> =>
      postCompletion(perch, 'audio/speech', {
        model: 'perch/tts',
        voice: 'system:espeak-ng:de',
        input: 'Guten Tag',
        response_format: format,
      });
    const transcribe = (file: File, fields: Record<string, string> = {}, path = 'transcriptions'): Promise<Response> => {
      const form = new FormData();
      for (const [name, value] of Object.entries({ model: 'browser/perch/ears', ...fields })) form.set(name, value);
      form.set('file', file);
      return perch.fetch(`/v1/audio/${path}`, { method: 'POST', body: form });
    };
    const sound = await speak('opus');
    expect([sound.status, sound.headers.get('content-type')]).toEqual([200, 'audio/ogg']);
    const ogg = await sound.arrayBuffer();
    expect(new TextDecoder('latin1').decode(ogg.slice(0, 4))).toBe('OggS');
    for (const [name, bytes] of [
      ['a.ogg', ogg],
      ['a.mp3', await (await speak('mp3')).arrayBuffer()],
      ['a.wav', await (await speak('wav')).arrayBuffer()],
    ] as const) {
      const heard = transcript.parse(await (await transcribe(new File([bytes], name), { response_format: 'verbose_json' })).json());
      expect([name, heard.text, heard.language, Math.round(heard.duration)]).toEqual([name, 'guten Tag', 'german', 1]);
      expect(heard.segments).toEqual([{ id: 0, start: 0, end: 0.5, text: 'guten Tag' }]);
    }
    const silence = new File([writeWav({ channels: 1, sampleRate: 8000, data: new Uint8Array(16_000) })], 'b.wav');
    expect(await (await transcribe(silence, { model: 'whisper-1', response_format: 'text' })).text()).toBe('nothing here\n');
    expect(await (await transcribe(silence, {}, 'translations')).json()).toMatchObject({ text: 'in English' });
    const minutes = writeWav({ channels: 1, sampleRate: 8000, data: new Uint8Array(16_000 * 70) });
    expect(await (await transcribe(new File([minutes], 'c.wav'))).json()).toMatchObject({ usage: { seconds: 70 } });
    // AAC depends on the system's encoders.
    const aac = await speak('aac');
    if (!aac.ok) expect(await aac.text()).toContain('Set `response_format` to opus, mp3, wav, pcm');
    for (const [fields, file, message] of [
      [{}, new File(['no sound, but enough text to look for one'], 'a.mp3'), 'Couldn’t read the audio: the format is unknown'],
      [{ language: 'tlh' }, silence, 'doesn’t know the language'],
      [{ model: 'browser/perch/none' }, silence, 'No model with id'],
    ] as const)
      expect(await (await transcribe(file, fields)).text()).toContain(message);
    expect((await askModel(perch, 'browser/perch/ears')).status).toBe(400);
    await expect(outside.client.call('models.select', { modelId: 'perch/ears' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    if (browser) expectNoComplaints(browser);
  },
  120_000,
);

verifies('browser-models/self-hosted', 'their runtime is beside the app, and no page or service worker loads it before', () => {
  const app = join(import.meta.dirname, '../../dist/app');
  const files = readdirSync(join(app, '_app/immutable'), { recursive: true, encoding: 'utf8' });
  const runtime = files.filter((file) => /ort-wasm/.test(file)).map((file) => file.replaceAll('\\', '/'));
  expect(runtime.map((file) => file.replace(/^onnx-[^/]+\//, '')).sort()).toEqual([
    'ort-wasm-simd-threaded.asyncify.mjs',
    'ort-wasm-simd-threaded.asyncify.wasm',
  ]);
  const serviceWorker = readFileSync(join(app, 'service-worker.js'), 'utf8');
  expect(serviceWorker).not.toContain('ort-wasm');
  const entries = files.filter((file) => /\.js$/.test(file) && !/chunks/.test(file));
  expect(entries.length).toBeGreaterThan(0);
  for (const file of entries)
    expect(readFileSync(join(app, '_app/immutable', file), 'utf8').includes('InferenceSession'), file).toBe(false);
});
