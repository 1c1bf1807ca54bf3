import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { parseWav, writeWav } from '#shared/wav.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { HTTP_BASE, readData, readError, createTestHttp } from '../../../../../tests/support/test-http.ts';
import { type MediaHandler, sendJson, startMediaServer } from '../../../../../tests/support/media-server.ts';

const KEY = 'key:a';
const TRANSCRIPT = { text: 'Hello there', usage: { type: 'tokens', input_tokens: 14, output_tokens: 4, total_tokens: 18 } };
const PIXEL = 'iVBORw0KGgo=';
const answers: Record<string, MediaHandler> = {};
let server: Awaited<ReturnType<typeof startMediaServer>>;
let http: ReturnType<typeof createTestHttp>;
let openai: OpenAI;

beforeAll(async () => {
  server = await startMediaServer(answers);
});
afterAll(() => server.close());
beforeEach(() => {
  for (const path of Object.keys(answers)) delete answers[path];
  server.requests.length = 0;
  http = createTestHttp([
    { id: 'up', name: 'Upstream', baseUrl: server.url, apiKey: 'secret' },
    { id: 'claude', name: 'Claude', kind: 'anthropic', apiKey: 'k' },
    { id: 'router', name: 'Router', kind: 'openrouter', baseUrl: server.url, apiKey: 'secret' },
  ]);
  openai = http.openai(KEY);
});

const audio = (): Promise<File> => toFile(Buffer.from('RIFFaudio'), 'talk.wav', { type: 'audio/wav' });
const upload = (path: string, body: FormData, init: RequestInit = {}): Promise<Response> =>
  http.ask(new Request(HTTP_BASE + path, { method: 'POST', body, ...init }), KEY);

describe('/v1/audio/speech', () => {
  verifies('http.media/speech', 'a provider’s bytes pass as they come, with the model’s own name', async () => {
    const goOn = Promise.withResolvers<void>();
    answers['/v1/audio/speech'] = async (_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/ogg' }).write('first');
      await goOn.promise;
      response.end('last');
    };
    const response = await openai.audio.speech.create({
      ...{ model: 'up/kokoro', voice: 'af_heart', input: 'Hello', response_format: 'opus', speed: 1.5 },
    });
    expect(response.headers.get('content-type')).toBe('audio/ogg');
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('first');
    goOn.resolve();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('last');
    expect(server.requests[0]).toMatchObject({
      authorization: 'Bearer secret',
      json: { model: 'kokoro', voice: 'af_heart', input: 'Hello', response_format: 'opus', speed: 1.5 },
    });
    expect(http.recorded).toMatchObject([{ provider: 'up', model: 'up/kokoro', principal: KEY, usage: { estimated: true } }]);
    expect(http.admitted).toEqual([KEY]);
  });

  verifies('http.media/own-voices', 'Perch’s voices take OpenAI’s names, speeds, and MP3, WAV or PCM', async () => {
    const asked: unknown[] = [];
    const sound = writeWav({ channels: 1, sampleRate: 12_000, data: new Uint8Array([0, 0, 16, 0]) });
    // Sizes in the header as written by an engine that writes to a pipe.
    const piped = sound.slice().fill(0xff, 40, 44);
    http.speak = async (params) => {
      asked.push(params);
      const [bytes, mimeType] = params.format === 'wav' ? ([piped, 'audio/wav'] as const) : (['mp3!', 'audio/mpeg'] as const);
      return { audio: Buffer.from(bytes).toString('base64'), mimeType, sizeBytes: 4, voice: params.voice ?? '' };
    };
    const speak = (more: object = {}): Promise<Response> =>
      openai.audio.speech.create({ model: 'tts-1', voice: 'nova', input: 'Hello', ...more });
    const mp3 = await speak({ speed: 0.5, instructions: 'cheerful' });
    expect([mp3.headers.get('content-type'), mp3.headers.get('x-perch-ignored'), await mp3.text()]).toEqual([
      ...['audio/mpeg', 'instructions', 'mp3!'],
    ]);
    expect(asked).toEqual([{ text: 'Hello', voice: 'en-US-EmmaMultilingualNeural', rate: '-50%' }]);
    const wav = new Uint8Array(
      await (await speak({ model: 'perch/tts', voice: 'de-DE-KatjaNeural', response_format: 'wav' })).arrayBuffer(),
    );
    expect(wav).toEqual(sound);
    expect(asked[1]).toMatchObject({ voice: 'de-DE-KatjaNeural', rate: '+0%', format: 'wav' });
    await speak({ voice: 'system:espeak-ng:German' });
    expect(asked[2]).toMatchObject({ voice: 'system:espeak-ng:German' });
    const pcm = new Uint8Array(await (await speak({ response_format: 'pcm' })).arrayBuffer());
    expect([...new Int16Array(pcm.buffer)]).toEqual([0, 8, 16, 16]);
    expect(parseWav(sound)).toMatchObject({ channels: 1, sampleRate: 12_000 });
    expect(http.recorded).toEqual([]);
  });

  verifies('http.media/encoded-voices', 'the browser converts MP3', async () => {
    http.speak = async ({ voice = '' }) => ({ audio: btoa('mp3!'), mimeType: 'audio/mpeg', sizeBytes: 4, voice });
    http.convertAudio = async (audio, format) => btoa(`${format} of ${atob(audio)}`);
    const speak = (format: string): Promise<Response> =>
      http.post('/v1/audio/speech', { model: 'tts-1', voice: 'nova', input: 'Hello', response_format: format });
    for (const [format, type] of [
      ['opus', 'audio/ogg'],
      ['aac', 'audio/aac'],
      ['flac', 'audio/flac'],
    ] as const) {
      const response = await speak(format);
      expect([response.headers.get('content-type'), await response.text()]).toEqual([type, `${format} of mp3!`]);
    }
    http.convertAudio = async () => {
      throw new RpcError('INVALID_PARAMS', 'not here');
    };
    const refused = await speak('aac');
    expect([refused.status, await readError(refused)]).toMatchObject([
      400,
      { param: 'response_format', message: 'This browser can’t encode aac. Set `response_format` to opus, mp3, wav, pcm.' },
    ]);
    http.convertAudio = async () => {
      throw new RpcError('INTERNAL_ERROR', 'Converting audio needs an open tab.');
    };
    expect((await readError(await speak('opus'))).message).toContain('needs an open tab. Set `response_format` to mp3, wav, pcm.');
  });

  it.each([
    [{ response_format: 'ogg' }, 'response_format', 'mp3, opus, aac, flac, wav, pcm'],
    [{ stream_format: 'sse' }, 'stream_format', '"audio"'],
    [{ voice: 'nobody' }, 'voice', 'alloy'],
    [{ voice: 'constructor' }, 'voice', 'alloy'],
    [{ speed: 9 }, 'speed', 'at most 4'],
    [{ input: ' ' }, 'input', 'no text'],
    [{ input: 'a'.repeat(20_001) }, 'input', 'at most'],
  ])('refuses what Perch’s voices can’t do (%#)', async (more, param, message) => {
    const response = await http.post('/v1/audio/speech', { model: 'tts-1', voice: 'nova', input: 'Hello', ...more });
    expect([response.status, await readError(response)]).toMatchObject([400, { param, message: expect.stringContaining(message) }]);
  });
});

describe('/v1/audio/transcriptions', () => {
  verifies('http.media/transcription', 'a form goes to the provider with every field, and its usage is recorded', async () => {
    answers['/v1/audio/transcriptions'] = (_request, response) => sendJson(response, TRANSCRIPT);
    const told = await openai.audio.transcriptions.create({
      ...{ file: await audio(), model: 'up/whisper', language: 'en', prompt: 'Names: Ana', temperature: 0.2 },
      ...{ response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] },
    });
    expect(told.text).toBe('Hello there');
    const form = server.requests[0]?.form;
    expect(form?.get('model')).toBe('whisper');
    expect(form?.getAll('timestamp_granularities[]')).toEqual(['word', 'segment']);
    expect([form?.get('language'), form?.get('prompt'), form?.get('temperature')]).toEqual(['en', 'Names: Ana', '0.2']);
    const file = form?.get('file') as File;
    expect([file.name, file.type, await file.text()]).toEqual(['talk.wav', 'audio/wav', 'RIFFaudio']);
    expect(http.recorded).toMatchObject([
      { model: 'up/whisper', principal: KEY, usage: { inputTokens: 14, outputTokens: 4, totalTokens: 18 } },
    ]);
  });

  it('passes subtitles on as text', async () => {
    const srt = '1\n00:00:00,000 --> 00:00:01,000\nHello\n';
    answers['/v1/audio/transcriptions'] = (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end(srt) as never;
    expect(await openai.audio.transcriptions.create({ file: await audio(), model: 'up/whisper', response_format: 'srt' })).toBe(srt);
  });

  it('streams events, and tells an upstream that breaks off', async () => {
    const delta = (text: string): string => `data: ${JSON.stringify({ type: 'transcript.text.delta', delta: text })}\n\n`;
    answers['/v1/audio/transcriptions'] = async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${delta('Hel')}${delta('lo')}data: ${JSON.stringify({ type: 'transcript.text.done', ...TRANSCRIPT })}\n\n`);
    };
    let text = '';
    const events = await openai.audio.transcriptions.create({ file: await audio(), model: 'up/gpt-4o-transcribe', stream: true });
    for await (const event of events) if (event.type === 'transcript.text.delta') text += event.delta;
    expect([text, http.recorded[0]?.usage.totalTokens]).toEqual(['Hello', 18]);
    answers['/v1/audio/transcriptions'] = async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await new Promise<void>((resolve) => response.write(delta('Hel'), () => resolve()));
      response.destroy();
    };
    const cut = await openai.audio.transcriptions.create({ file: await audio(), model: 'up/gpt-4o-transcribe', stream: true });
    const readAll = async (): Promise<void> => {
      for await (const _ of cut);
    };
    await expect(readAll()).rejects.toBeInstanceOf(OpenAI.APIError);
  });

  verifies('http.media/translation', 'translations go to their own endpoint', async () => {
    answers['/v1/audio/translations'] = (_request, response) => sendJson(response, { text: 'Good day' });
    expect((await openai.audio.translations.create({ file: await audio(), model: 'up/whisper' })).text).toBe('Good day');
  });

  verifies('http.media/bad-forms', 'a broken, empty or incomplete form is a 400', async () => {
    const form = (fields: Record<string, string | File>): FormData => {
      const made = new FormData();
      for (const [name, value] of Object.entries(fields)) made.set(name, value);
      return made;
    };
    const empty = new File([], 'talk.wav');
    const file = new File(['x'], 'talk.wav');
    for (const [body, param] of [
      [form({ file: empty, model: 'up/whisper' }), 'file'],
      [form({ file: 'text', model: 'up/whisper' }), 'file'],
      [form({ model: 'up/whisper' }), 'file'],
      [form({ file }), 'model'],
      [form({ file, model: 'up/whisper', temperature: 'warm' }), 'temperature'],
      [form({ file, model: 'up/whisper', response_format: 'docx' }), 'response_format'],
      [form({ file, model: 'up/whisper', stream: 'perhaps' }), 'stream'],
      [form({ file, model: 'perch/main' }), 'model'],
    ] as const) {
      const response = await upload('/v1/audio/transcriptions', body);
      expect([response.status, (await readError(response)).param]).toEqual([400, param]);
    }
    for (const [type, body] of [
      ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="file"'],
      ['multipart/form-data', 'no boundary'],
      ['application/json', '{}'],
    ] as const) {
      const request = new Request(`${HTTP_BASE}/v1/audio/transcriptions`, { method: 'POST', body, headers: { 'content-type': type } });
      const response = await http.ask(request, KEY);
      expect([type, response.status]).toEqual([type, 400]);
      await readError(response);
    }
    const large = new Request(`${HTTP_BASE}/v1/audio/transcriptions`, {
      method: 'POST',
      body: new Uint8Array(33 * 1024 * 1024),
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    });
    expect((await http.ask(large, KEY)).status).toBe(413);
    expect(http.faults).toEqual([]);
    expect(server.requests).toEqual([]);
  });
});

verifies('http.media/which-provider', 'what no provider can do names the providers to add', async () => {
  const expected = [404, { type: 'model_not_found', message: expect.stringContaining('Add OpenAI') }];
  const form = new FormData();
  form.set('file', await audio());
  for (const model of ['whisper-1', 'nobody/whisper', 'up/no-endpoint', 'up-missing']) {
    form.set('model', model);
    const response = await upload('/v1/audio/transcriptions', form);
    expect([response.status, await readError(response)], model).toMatchObject(expected);
  }
  for (const [path, body] of [
    ['/v1/images/generations', { prompt: 'A cat' }],
    ['/v1/images/generations', { prompt: 'A cat', model: 'up/flux' }],
    ['/v1/audio/speech', { model: 'nope', voice: 'alloy', input: 'Hello' }],
  ] as const) {
    const response = await http.post(path, body);
    expect([response.status, await readError(response)]).toMatchObject(expected);
  }
  for (const [path, body] of [
    ['/v1/images/generations', { prompt: 'A cat', model: 'claude/opus' }],
    ['/v1/audio/speech', { model: 'claude/opus', voice: 'alloy', input: 'Hello' }],
    ['/v1/images/generations', { prompt: 'A cat', model: 'main' }],
  ] as const) {
    const response = await http.post(path, body);
    expect([response.status, await readError(response)]).toMatchObject([
      400,
      { param: 'model', message: expect.stringContaining('Add OpenAI') },
    ]);
  }
});

verifies('http.media/bare-names', 'a usual model name goes to the hosted provider that has it, though its list hides it', async () => {
  const asked: string[] = [];
  http = createTestHttp([{ id: 'oa', name: 'OpenAI', kind: 'openai', apiKey: 'k' }], async (url, init) => {
    asked.push(String(url));
    if (!init?.body) return Response.json({ data: [] });
    return Response.json(TRANSCRIPT);
  });
  const told = await http.openai().audio.transcriptions.create({ file: await audio(), model: 'whisper-1' });
  expect(told.text).toBe('Hello there');
  expect(asked.at(-1)).toBe('https://api.openai.com/v1/audio/transcriptions');
});

describe('/v1/images', () => {
  verifies('http.media/images', 'images are made and edited by a provider’s own endpoints', async () => {
    const made = { created: 1, data: [{ b64_json: PIXEL }], usage: { input_tokens: 5, output_tokens: 100, total_tokens: 105 } };
    answers['/v1/images/generations'] = (_request, response) => sendJson(response, made);
    answers['/v1/images/edits'] = (_request, response) => sendJson(response, made);
    const image = await openai.images.generate({ model: 'up/flux', prompt: 'A cat', size: '512x512', n: 2 });
    expect(image.data?.[0]?.b64_json).toBe(PIXEL);
    expect(server.requests[0]?.json).toEqual({ model: 'flux', prompt: 'A cat', size: '512x512', n: 2 });
    const files = [new File(['a'], 'a.png', { type: 'image/png' }), new File(['b'], 'b.png', { type: 'image/png' })];
    await openai.images.edit({ model: 'up/flux', prompt: 'A dog', image: files, mask: new File(['m'], 'm.png') });
    const form = server.requests[1]?.form;
    expect([form?.get('model'), form?.get('prompt'), form?.getAll('image[]').length, form?.get('mask') instanceof File]).toEqual([
      ...['flux', 'A dog', 2, true],
    ]);
    expect(http.recorded.map(({ usage }) => usage.totalTokens)).toEqual([105, 105]);
  });

  verifies('http.media/drawn', 'OpenRouter’s image models answer over chat', async () => {
    const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } }];
    answers['/v1/chat/completions'] = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const write = (value: object): unknown => response.write(`data: ${JSON.stringify(value)}\n\n`);
      write({ choices: [{ index: 0, delta: { content: 'Here: ', images } }] });
      write({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 3, completion_tokens: 9 } });
      response.end('data: [DONE]\n\n');
    };
    const image = await openai.images.generate({ model: 'router/google/banana', prompt: 'A cat', n: 2, size: '512x512' }).withResponse();
    expect(image.data.data).toEqual([{ b64_json: PIXEL }, { b64_json: PIXEL }]);
    expect(image.response.headers.get('x-perch-ignored')).toBe('size');
    expect(server.requests[0]?.json).toMatchObject({ model: 'google/banana', modalities: ['image', 'text'] });
    expect(http.recorded).toMatchObject([{ model: 'router/google/banana', usage: { inputTokens: 6, outputTokens: 18 } }]);
    const edited = await openai.images.edit({
      ...{ model: 'router/google/banana', prompt: 'A dog', response_format: 'url' },
      image: new File(['a'], 'a.png', { type: 'image/png' }),
    });
    expect(edited.data?.[0]?.url).toBe(`data:image/png;base64,${PIXEL}`);
    expect(JSON.stringify(server.requests[2]?.json)).toContain('data:image/png;base64,YQ==');
    const masked = openai.images.edit({
      ...{ model: 'router/google/banana', prompt: 'A dog', mask: new File(['m'], 'm.png') },
      image: new File(['a'], 'a.png'),
    });
    await expect(masked).rejects.toMatchObject({ status: 400, param: 'mask' });
  });

  verifies('http.media/drawn', 'Google’s image models answer over their own API', async () => {
    const asked: Record<string, unknown>[] = [];
    http = createTestHttp([{ id: 'gemini', name: 'Gemini', kind: 'google', apiKey: 'k' }], async (_url, init) => {
      asked.push(JSON.parse(String(init?.body)) as Record<string, unknown>);
      const parts = [{ text: 'Here: ' }, { inlineData: { mimeType: 'image/png', data: PIXEL } }];
      const answer = {
        candidates: [{ content: { parts }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 8 },
      };
      return new Response(`data: ${JSON.stringify(answer)}\n\n`, { headers: { 'content-type': 'text/event-stream' } });
    });
    const image = await http.openai().images.edit({
      ...{ model: 'gemini/gemini-image', prompt: 'A dog' },
      image: new File(['a'], 'a.png', { type: 'image/png' }),
    });
    expect(image.data).toEqual([{ b64_json: PIXEL }]);
    expect(asked[0]).toMatchObject({
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
      contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'YQ==' } }, { text: 'A dog' }] }],
    });
    expect(http.recorded).toMatchObject([{ provider: 'gemini', usage: { inputTokens: 4, outputTokens: 8 } }]);
  });

  it('reports the text that a model returned instead of an image', async () => {
    answers['/v1/chat/completions'] = (_request, response) =>
      sendJson(response, { choices: [{ index: 0, message: { role: 'assistant', content: 'I cannot draw.' }, finish_reason: 'stop' }] });
    const response = await http.post('/v1/images/generations', { model: 'router/text-model', prompt: 'A cat' });
    expect([response.status, await readError(response)]).toMatchObject([502, { message: expect.stringContaining('I cannot draw.') }]);
  });
});

verifies('http.media/faults', 'refusals, failures and answers that cannot be read are errors of OpenAI’s form', async () => {
  const form = new FormData();
  form.set('file', await audio());
  form.set('model', 'up/whisper');
  for (const [upstream, status, message] of [
    [(response) => sendJson(response, { error: { message: 'too short', param: 'file' } }, 400), 400, 'too short'],
    [(response) => sendJson(response, { error: { message: 'Bad key secret' } }, 401), 502, 'rejected the API key'],
    [(response) => sendJson(response, { error: { message: 'large' } }, 413), 413, 'large'],
    [(response) => response.writeHead(200).end('<html>'), 502, 'web page'],
    [(response) => response.writeHead(200).end('Hello'), 502, 'not JSON'],
    [(response) => sendJson(response, { error: { message: 'out of memory: secret' } }), 502, 'out of memory: ***'],
    [(response) => response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy()), 502, 'Upstream'],
  ] as [(response: Parameters<MediaHandler>[1]) => unknown, number, string][]) {
    answers['/v1/audio/transcriptions'] = (_request, response) => void upstream(response);
    const response = await upload('/v1/audio/transcriptions', form);
    const error = await readError(response);
    expect([response.status, error.message]).toEqual([status, expect.stringContaining(message)]);
    expect(error.message).not.toContain('secret');
  }
  answers['/v1/audio/transcriptions'] = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"type":"transcript.text.delta","delta":"Hel"}\n\n');
    response.end('data: {"error":{"message":"The key secret is not good any more"}}\n\n');
  };
  form.set('stream', 'true');
  const streamed = await readData(await upload('/v1/audio/transcriptions', form));
  expect(streamed).toEqual([expect.stringContaining('Hel'), expect.stringContaining('The key *** is not good any more')]);
  answers['/v1/audio/speech'] = (_request, response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end('<script>alert(1)</script>');
  const page = await http.post('/v1/audio/speech', { model: 'up/kokoro', voice: 'x', input: 'Hello' });
  expect(page.headers.get('content-type')).toBe('audio/mpeg');
  await page.body?.cancel();
  expect(http.faults).toEqual([]);
});

verifies('http.media/hang-up', 'a caller that hangs up ends the request upstream', async () => {
  const came = Promise.withResolvers<void>();
  answers['/v1/audio/transcriptions'] = () => came.resolve();
  const form = new FormData();
  form.set('file', await audio());
  form.set('model', 'up/whisper');
  const abort = new AbortController();
  const response = upload('/v1/audio/transcriptions', form, { signal: abort.signal });
  await came.promise;
  abort.abort();
  expect((await response).status).toBe(499);
  expect(await server.requests[0]?.isAborted).toBe(true);

  answers['/v1/audio/speech'] = (_request, answer) => void answer.writeHead(200, { 'content-type': 'audio/mpeg' }).write('first');
  const speech = await http.post('/v1/audio/speech', { model: 'up/kokoro', voice: 'x', input: 'Hello' });
  await speech.body?.cancel();
  expect(await server.requests[1]?.isAborted).toBe(true);
});

verifies('http.media/scopes', 'keys need the scope v1', async () => {
  for (const path of ['/v1/audio/speech', '/v1/audio/transcriptions', '/v1/images/generations', '/v1/images/edits', '/v1/completions'])
    expect((await http.post(path, {}, { principal: KEY, scopes: ['read', 'mcp'] })).status).toBe(403);
});
