import { createHash, randomBytes } from 'node:crypto';
import OpenAI, { toFile } from 'openai';
import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { createEgressGateway } from '../support/egress-gateway.ts';
import { sendJson, startMediaServer } from '../support/media-server.ts';

const computeHash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

verifies(['http.media/large-upload', 'http.media/hang-up'], 'over real sockets', async () => {
  const never = Promise.withResolvers<void>();
  const server = await startMediaServer({
    '/v1/audio/transcriptions': async ({ form }, response) => {
      if (form?.get('language') === 'xx') return never.resolve();
      sendJson(response, { text: computeHash(new Uint8Array(await (form?.get('file') as File).arrayBuffer())) });
    },
    '/v1/audio/speech': (_request, response) => void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('mp3!'),
  });
  await using gw = await createEgressGateway();
  await gw.client.call('config.set', { key: 'providers.up', value: { baseUrl: server.url } });
  const openai = new OpenAI({ baseURL: `${gw.bridge.url}/v1`, apiKey: gw.bridge.token, maxRetries: 0 });
  const bytes = randomBytes(25 * 1024 * 1024);
  const file = await toFile(bytes, 'talk.mp3', { type: 'audio/mpeg' });
  expect((await openai.audio.transcriptions.create({ file, model: 'up/whisper' })).text).toBe(computeHash(bytes));
  expect(await (await openai.audio.speech.create({ model: 'up/tts', voice: 'x', input: 'Hi' })).text()).toBe('mp3!');

  const abort = new AbortController();
  const small = await toFile(Buffer.from('x'), 'x.wav');
  const left = openai.audio.transcriptions.create({ file: small, model: 'up/whisper', language: 'xx' }, { signal: abort.signal });
  left.catch(() => {});
  await never.promise;
  abort.abort();
  await expect(left).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
  expect(await server.requests.at(-1)?.isAborted).toBe(true);

  const described = await gw.bridge.http('/openapi.json');
  expect([described.status, (await described.json()) as object]).toMatchObject([200, { openapi: '3.1.0' }]);
  expect((await gw.bridge.http('/openapi.json', { token: null })).status).toBe(401);
  await server.close();
});
