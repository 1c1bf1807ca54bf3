// `/v1/audio` with a model in this browser.
import OpenAI, { toFile } from 'openai';
import { beforeEach, expect, it } from 'vitest';
import type { Transcript, TranscriptRequest } from '#shared/ports/transcript.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { HTTP_BASE, readError, createTestHttp } from '../../../../../tests/support/test-http.ts';

const KEY = 'key:a';
const audio = (): Promise<File> => toFile(Buffer.from('RIFFaudio'), 'talk.wav', { type: 'audio/wav' });
const transcript: Transcript = {
  ...{ text: 'Good morning. Hello --> there.', language: 'de', duration: 3.2 },
  segments: [
    { start: 0, end: 1.5, text: 'Good morning.' },
    { start: 1.5, end: 3661.0405, text: 'Hello --> there.' },
  ],
};
let http: ReturnType<typeof createTestHttp>;
let openai: OpenAI;
let requests: { model: string; request: TranscriptRequest }[];
const answerIn = (path: string, fields: Record<string, string>): Promise<Response> => {
  const form = new FormData();
  form.set('file', new File(['RIFF'], 'a.wav'));
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return http.ask(new Request(HTTP_BASE + path, { method: 'POST', body: form }), KEY);
};
beforeEach(() => {
  requests = [];
  const refuse = (): Promise<never> => Promise.reject(new RpcError('INVALID_PARAMS', 'no chat', { details: { field: 'model' } }));
  http = createTestHttp([], undefined, {
    runners: {
      browser: {
        unsupported: [],
        list: async () => [
          { id: 'o/words', name: null, contextWindow: 256, problem: null, task: 'text-generation' },
          { id: 'o/whisper', name: null, contextWindow: null, problem: null, task: 'automatic-speech-recognition' },
        ],
        ...{ generate: refuse, embed: refuse },
        async transcribe(model, request) {
          requests.push({ model, request });
          if (request.language === 'xx') throw new RpcError('INVALID_PARAMS', 'no such language', { details: { field: 'language' } });
          if (model === 'o/none') throw new RpcError('NOT_FOUND', 'no such model');
          return transcript;
        },
      },
    },
  });
  openai = http.openai(KEY);
});

verifies('http.media/local-transcription', 'in each format, with what has no effect named', async () => {
  const created = await openai.audio.transcriptions.create({ file: await audio(), model: 'browser/o/whisper' }).withResponse();
  expect(created.data).toEqual({ text: transcript.text, usage: { type: 'duration', seconds: 4 } });
  expect(created.response.headers.get('x-perch-ignored')).toBeNull();
  expect(requests).toEqual([{ model: 'o/whisper', request: { audio: btoa('RIFFaudio'), translate: false } }]);
  expect(http.recorded).toMatchObject([{ provider: 'browser', model: 'browser/o/whisper', principal: KEY, usage: { estimated: true } }]);
  const verbose = await openai.audio.transcriptions
    .create({
      ...{ file: await audio(), model: 'whisper-1', language: 'de', prompt: 'Ana', temperature: 0.2 },
      ...{ response_format: 'verbose_json', timestamp_granularities: ['word'] },
    })
    .withResponse();
  expect(verbose.data).toMatchObject({ language: 'german', duration: 3.2, segments: [{ id: 0, start: 0, end: 1.5 }, { id: 1 }] });
  expect(verbose.response.headers.get('x-perch-ignored')).toBe('prompt, temperature, timestamp_granularities');
  expect(requests[1]).toMatchObject({ model: 'o/whisper', request: { language: 'de' } });
  const asText = async (format: string) =>
    (await answerIn('/v1/audio/transcriptions', { model: 'browser/o/whisper', response_format: format })).text();
  expect(await asText('text')).toBe(`${transcript.text}\n`);
  expect(await asText('srt')).toBe(
    '1\n00:00:00,000 --> 00:00:01,500\nGood morning.\n\n2\n00:00:01,500 --> 01:01:01,041\nHello -> there.\n',
  );
  expect(await asText('vtt')).toBe(
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nGood morning.\n\n00:00:01.500 --> 01:01:01.041\nHello -> there.\n',
  );
  let streamed = '';
  for await (const event of await openai.audio.transcriptions.create({ file: await audio(), model: 'whisper-1', stream: true }))
    if (event.type === 'transcript.text.done') streamed = event.text;
  expect(streamed).toBe(transcript.text);
  const translated = await openai.audio.translations.create({ file: await audio(), model: 'browser/o/whisper' });
  expect([translated.text, requests.at(-1)?.request.translate]).toEqual([transcript.text, true]);
});

it.each([
  [{ model: 'browser/o/whisper', language: 'xx' }, 400, 'language'],
  [{ model: 'browser/o/whisper', response_format: 'diarized_json' }, 400, 'response_format'],
  [{ model: 'browser/o/none' }, 404, 'model'],
  [{ model: 'nobody/whisper' }, 404, 'model'],
])('refuses %j', async (fields, status, param) => {
  const response = await answerIn('/v1/audio/transcriptions', fields);
  expect([response.status, await readError(response)]).toMatchObject([status, { param }]);
});

it('is no model for chats', async () => {
  const { data } = await openai.models.list();
  expect(data.map(({ id }) => id)).toContain('browser/o/words');
  expect(data.map(({ id }) => id)).not.toContain('browser/o/whisper');
});
