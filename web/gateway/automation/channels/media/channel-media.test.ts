import { describe, expect } from 'vitest';
import { speechPort } from '#shared/ports/speech-port.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { createChannelGateway, egressCapability } from '../../../../../tests/support/channel-gateway.ts';
import { FakeBridge, createCapability } from '../../../../../tests/support/fake-bridge.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import { failFirst, startPlatformServer } from '../../../../../tests/support/platform-server.ts';
import { isCall, startTelegramServer, TELEGRAM_TOKEN } from '../../../../../tests/support/telegram-server.ts';
import type { ChannelMedia } from './channel-media.ts';
import { readFiles } from './read-files.ts';

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=', 'base64');

/** A gateway with Telegram, a server for speech recognition and a voice. */
async function createMediaGateway({ withSpeech = true, settings = {} }: { withSpeech?: boolean; settings?: Record<string, unknown> } = {}) {
  const clock = new FakeClock();
  const server = await startTelegramServer(clock);
  const uploads: string[] = [];
  const speech = await startPlatformServer(({ path, body }) => {
    if (path !== '/v1/audio/transcriptions') return { status: 404, json: {} };
    uploads.push(body.toString('latin1'));
    return { json: { text: ' What is the weather? ' } };
  });
  const spoken: string[] = [];
  const voice = createCapability(speechPort, {
    'speech.speak': async ({ text }) => {
      spoken.push(text);
      return { audio: btoa('mp3 of the reply'), voice: 'en-US-AvaMultilingualNeural', mimeType: 'audio/mpeg' as const, sizeBytes: 16 };
    },
    'speech.voices': async () => ({ voices: [] }),
  });
  const telegram = { enabled: true, botToken: TELEGRAM_TOKEN, apiBase: server.url, allowedUsers: [], ...settings };
  const gw = await createChannelGateway({ telegram }, { clock, bridge: new FakeBridge(egressCapability, voice) });
  const { client } = await gw.client();
  if (withSpeech)
    await client.call('config.patch', { patch: { providers: { groq: { kind: 'groq', baseUrl: `${speech.url}/v1`, apiKey: 'key' } } } });
  return {
    ...{ server, gw, client, clock, uploads, spoken },
    said: () => server.sent.map(({ text }) => text),
    getUserMessage: async (sessionId = 'telegram-7') =>
      (await client.call('chat.history', { sessionId })).messages.findLast(({ role }) => role === 'user'),
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await Promise.all([server[Symbol.asyncDispose](), speech[Symbol.asyncDispose]()]);
    },
  };
}

describe('files on Telegram', () => {
  verifies('channels/voice', 'a voice message becomes text, and is answered by text and voice', async () => {
    await using at = await createMediaGateway();
    at.server.downloads.set('voice/file_1.oga', Buffer.from('ogg of the question'));
    at.server.write(undefined, { more: { voice: { file_id: 'voice/file_1.oga', mime_type: 'audio/ogg', file_size: 19 } } });
    await at.gw.advanceUntil(() => at.server.voices.length === 1, 'the voice');
    expect(at.uploads[0]).toContain('ogg of the question');
    expect(at.uploads[0]).toContain('whisper-large-v3-turbo');
    expect(JSON.stringify((await at.getUserMessage())?.content)).toContain('What is the weather?');
    expect(at.said()).toEqual(['Hello there']);
    expect(at.spoken).toEqual(['Hello there']);
    expect(at.server.voices[0]).toContain('mp3 of the reply');
    // A text is answered by text.
    at.server.write('And tomorrow?');
    await at.gw.advanceUntil(() => at.said().length === 2, 'the second answer');
    expect(at.server.voices).toHaveLength(1);
    expect(at.gw.faults).toEqual([]);
  });

  verifies('channels/owner-accounts', 'a recording that the owner sends is from outside, unless it is a voice message', async () => {
    await using at = await createMediaGateway({ settings: { owners: ['7'] } });
    at.server.downloads.set('v', Buffer.from('ogg')).set('a', Buffer.from('mp3'));
    at.server.write(undefined, { more: { voice: { file_id: 'v' } } });
    await at.gw.advanceUntil(() => at.said().length === 1, 'the first answer');
    expect((await at.getUserMessage())?.outside).toEqual([]);
    at.server.write(undefined, { more: { audio: { file_id: 'a', file_name: 'call.mp3' } } });
    await at.gw.advanceUntil(() => at.said().length === 2, 'the second answer');
    expect((await at.getUserMessage())?.outside).toEqual(['document:call.mp3']);
  });

  verifies(
    'channels/owner-accounts',
    'a voice message with another recording is from outside, since it is not known which one is the voice',
    async () => {
      const files = ['voice.ogg', 'call.mp3'].map((name) => ({ id: name, kind: 'audio' as const, name, mimeType: 'audio/ogg' }));
      const fetchFile = async () => ({ bytes: new Uint8Array(1), mimeType: 'audio/ogg' });
      const media = { transcribe: async () => 'Words' } as unknown as ChannelMedia;
      const deps = { adapter: { fetchFile }, media, principal: 'channel:slack', signal: new AbortController().signal };
      expect((await readFiles({ text: '', files, isVoice: true }, deps)).outside).toEqual(['document:voice.ogg', 'document:call.mp3']);
      expect((await readFiles({ text: '', files: files.slice(0, 1), isVoice: true }, deps)).outside).toEqual([]);
    },
  );

  verifies('channels/voice', 'a reply is not spoken if that is turned off, and without a model the sender is told', async () => {
    await using at = await createMediaGateway({ withSpeech: false, settings: { voiceReplies: false } });
    at.server.downloads.set('v', Buffer.from('ogg'));
    at.server.write(undefined, { more: { voice: { file_id: 'v' } } });
    await at.gw.advanceUntil(() => at.said().length === 1, 'the answer');
    expect(at.said()[0]).toContain('I couldn’t understand the recording: no model for speech is set up');
    expect(at.gw.calls).toHaveLength(0);
    await at.client.call('config.patch', { patch: { channels: { telegram: { voiceReplies: false } } } });
    expect(at.spoken).toEqual([]);
  });

  verifies('channels/files', 'pictures and documents reach the agent with their text', async () => {
    await using at = await createMediaGateway();
    at.server.downloads
      .set('photos/small.jpg', PNG)
      .set('photos/large.jpg', PNG)
      .set('documents/a.txt', Buffer.from('The ferry leaves at nine.'));
    at.server.write(undefined, {
      more: { caption: 'What is this?', photo: [{ file_id: 'photos/small.jpg' }, { file_id: 'photos/large.jpg' }] },
    });
    await at.gw.advanceUntil(() => at.said().length === 1, 'the first answer');
    const picture = await at.getUserMessage();
    expect(picture).toMatchObject({ attachments: [{ filename: 'photo.jpg', mimeType: 'image/jpeg' }], outside: ['channel:telegram 7'] });
    at.server.write(undefined, {
      more: { document: { file_id: 'documents/a.txt', file_name: 'ferry.txt', mime_type: 'text/plain' } },
    });
    await at.gw.advanceUntil(() => at.said().length === 2, 'the second answer');
    const document = await at.getUserMessage();
    expect(JSON.stringify(document?.content)).toContain('[Document ferry.txt]\\nThe ferry leaves at nine.');
    expect(document?.attachments).toMatchObject([{ filename: 'ferry.txt' }]);
    // Files of the sender do not hold the reply to the sender.
    expect((await at.client.call('approvals.list', {})).count).toBe(0);
  });

  verifies('channels/files', 'a file that cannot be read is named in the reply, and a failing platform is asked again', async () => {
    await using at = await createMediaGateway();
    at.server.downloads.set('a.bin', Buffer.from([0, 1, 2])).set('b.txt', Buffer.from('Readable'));
    at.server.write(undefined, {
      more: { caption: 'Read this', document: { file_id: 'a.bin', file_name: 'a.bin', mime_type: 'application/x-nothing' } },
    });
    await at.gw.advanceUntil(() => at.said().length === 1, 'the first answer');
    expect(at.said()[0]).toBe('Hello there\n\nI couldn’t read a.bin: files of this type can’t be read.');
    at.server.write(undefined, { more: { document: { file_id: 'x', file_name: 'big.pdf', file_size: 30 * 1024 * 1024 } } });
    await at.gw.advanceUntil(() => at.said().length === 2, 'the second answer');
    expect(at.said()[1]).toContain('I couldn’t read big.pdf: Telegram gives bots files of at most 20 MB.');
    at.server.write(undefined, { more: { document: { file_id: '../b.txt', file_name: 'c.txt' } } });
    await at.gw.advanceUntil(() => at.said().length === 3, 'the third answer');
    expect(at.said()[2]).toContain('I couldn’t read c.txt');
    at.server.fault = failFirst(2, { status: 502, body: 'Bad Gateway' }, isCall('getFile'));
    at.server.write(undefined, { more: { document: { file_id: 'b.txt', file_name: 'b.txt', mime_type: 'text/plain' } } });
    await at.gw.advanceUntil(() => at.said().length === 4, 'the fourth answer');
    expect(at.said()[3]).toBe('Hello there');
    expect(JSON.stringify(at.server.sent)).not.toContain(TELEGRAM_TOKEN);
  });
});
