import { createHash, randomBytes } from 'node:crypto';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { sendJson, startMediaServer } from '../support/media-server.ts';
import { type Perch, startPerch } from './perch-process.ts';
import { createOpenai } from './openai-client.ts';
import { addProvider, connectOutside } from './outside-client.ts';

// The gateway in its managed Chromium reads and writes the forms; the official package calls it from outside.
let perch: Perch;
let server: Awaited<ReturnType<typeof startMediaServer>>;
let openai: OpenAI;

beforeAll(async () => {
  server = await startMediaServer({
    '/v1/audio/transcriptions': async ({ form }, response) => {
      const file = form?.get('file') as File;
      const sha = createHash('sha256').update(new Uint8Array(await file.arrayBuffer()));
      sendJson(response, { text: `${file.name} ${form?.get('model')} ${form?.get('prompt')} ${sha.digest('hex')}` });
    },
    '/v1/audio/speech': (_request, response) => void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('mp3!'),
    '/v1/images/edits': ({ form }, response) => {
      const b64_json = Buffer.from(`${form?.getAll('image[]').length} ${form?.get('prompt')}`).toString('base64');
      sendJson(response, { created: 1, data: [{ b64_json }] });
    },
  });
  perch = await startPerch();
  openai = createOpenai(perch);
  using outside = await connectOutside(perch);
  await addProvider(outside.client, server.url);
});
afterAll(async () => {
  await perch?.[Symbol.asyncDispose]();
  await server?.close();
});

verifies(['http.media/large-upload', 'http.media/transcription'], 'a file of 25 MiB reaches the provider unchanged', async () => {
  const bytes = randomBytes(25 * 1024 * 1024);
  const file = await toFile(bytes, 'größe.mp3', { type: 'audio/mpeg' });
  const transcription = await openai.audio.transcriptions.create({ file, model: 'local/whisper', prompt: 'Café' });
  expect(transcription.text).toBe(`größe.mp3 whisper Café ${createHash('sha256').update(bytes).digest('hex')}`);
});

verifies(['http.media/speech', 'http.media/images', 'http.openapi/contracts'], 'speech, image edits and the description', async () => {
  expect(await (await openai.audio.speech.create({ model: 'local/tts', voice: 'x', input: 'Hi' })).text()).toBe('mp3!');
  const image = [new File(['a'], 'a.png', { type: 'image/png' }), new File(['b'], 'b.png', { type: 'image/png' })];
  const edited = await openai.images.edit({ model: 'local/flux', prompt: 'A dog', image });
  expect(Buffer.from(edited.data?.[0]?.b64_json ?? '', 'base64').toString()).toBe('2 A dog');
  const description = await fetch(`${perch.url}/openapi.json`, { headers: { authorization: `Bearer ${perch.token}` } });
  expect([description.status, await description.json()]).toMatchObject([200, { openapi: '3.1.0' }]);
});

verifies('http.media/bad-forms', 'a form that breaks off is a 400', async () => {
  const body = '--b\r\nContent-Disposition: form-data; name="file"; filename="x.wav"\r\n\r\nabc';
  const headers = { authorization: `Bearer ${perch.token}`, 'content-type': 'multipart/form-data; boundary=b' };
  expect((await fetch(`${perch.url}/v1/audio/transcriptions`, { method: 'POST', body, headers })).status).toBe(400);
  await expect(openai.audio.transcriptions.create({ file: new File([], 'x.wav'), model: 'local/whisper' })).rejects.toBeInstanceOf(
    OpenAI.BadRequestError,
  );
});
