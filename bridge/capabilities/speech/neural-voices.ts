import { createHash, randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { z } from '#shared/rpc/zod.ts';
import type { Voice } from '#shared/rpc/methods/tts-contracts.ts';
import { VOICE_ID_PATTERN } from '#shared/voice-id.ts';
import { splitText } from './split-text.ts';

/** URLs of the online voices' service. Tests use their own server. */
interface NeuralServiceUrls {
  socket: string;
  voices: string;
}

const BASE_URL = 'speech.platform.bing.com/consumer/speech/synthesize/readaloud';
const SERVICE_URLS: NeuralServiceUrls = { socket: `wss://${BASE_URL}/edge/v1`, voices: `https://${BASE_URL}/voices/list` };
/** Public client id, sent by every copy of the browser that these voices are made for. */
const CLIENT_ID = '6A5AA1D4EAFF4E9FB37E23D68491D6F4';
const VERSION = '1-143.0.3650.96';
const HEADERS = {
  'user-agent':
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0',
  origin: 'chrome-extension://jdiccldimpdaibmpdkjnbmckianbfold',
};
const FORMAT = 'audio-24khz-48kbitrate-mono-mp3';
/** Maximum bytes of text per request, as limited by the service. */
const MAX_REQUEST_BYTES = 4096;
const REQUEST_MS = 30_000;
const LIST_MS = 5_000;
const MAX_AUDIO_BYTES = 32 * 1024 * 1024;

/** The service rejected the request or is unreachable. */
export class NeuralVoiceError extends Error {
  override name = 'NeuralVoiceError';
}

export interface Utterance {
  text: string;
  voice: string;
  /** Such as `+10%` and `-5Hz`. */
  rate: string;
  pitch: string;
}

const voiceListSchema = z.array(z.object({ ShortName: z.string(), FriendlyName: z.string(), Locale: z.string(), Gender: z.string() }));

/** Online neural voices that Edge uses to read pages aloud. */
export class NeuralVoices {
  readonly #urls: NeuralServiceUrls;

  constructor(place: NeuralServiceUrls = SERVICE_URLS) {
    this.#urls = place;
  }

  /** Rejects with `NeuralVoiceError` if the service is unreachable. */
  async voices(signal: AbortSignal): Promise<Voice[]> {
    try {
      const response = await fetch(`${this.#urls.voices}?${createQuery()}`, {
        headers: HEADERS,
        signal: AbortSignal.any([signal, AbortSignal.timeout(LIST_MS)]),
      });
      if (!response.ok) throw parseMessage(`HTTP ${response.status}`);
      const voices = voiceListSchema.parse(await response.json());
      return (
        voices
          // Other voices would be rejected later by `speak`.
          .filter(({ ShortName }) => VOICE_ID_PATTERN.test(ShortName))
          .map(({ ShortName: id, FriendlyName: name, Locale: language, Gender: gender }) => ({ id, name, language, gender }))
      );
    } catch (error) {
      signal.throwIfAborted();
      throw createServiceError(error);
    }
  }

  /** Returns MP3. Rejects with `NeuralVoiceError` if it is incomplete. */
  async speak(utterance: Utterance, signal: AbortSignal): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (const text of splitText(utterance.text, MAX_REQUEST_BYTES)) parts.push(await this.#requestAudio({ ...utterance, text }, signal));
    return Buffer.concat(parts);
  }

  #requestAudio(utterance: Utterance, caller: AbortSignal): Promise<Buffer> {
    const signal = AbortSignal.any([caller, AbortSignal.timeout(REQUEST_MS)]);
    const socket = new WebSocket(`${this.#urls.socket}?${createQuery()}&ConnectionId=${randomUUID().replaceAll('-', '')}`, {
      headers: HEADERS,
      maxPayload: MAX_AUDIO_BYTES,
    });
    return new Promise<Buffer>((resolve, reject) => {
      const audio: Buffer[] = [];
      let size = 0;
      const end = (error?: unknown): void => {
        signal.removeEventListener('abort', onabort);
        socket.terminate();
        if (error === undefined) resolve(Buffer.concat(audio));
        else reject(caller.aborted ? caller.reason : createServiceError(error));
      };
      const onabort = (): void => end(parseMessage('no response in time'));
      signal.addEventListener('abort', onabort);
      if (signal.aborted) onabort();
      socket.on('error', end);
      socket.on('unexpected-response', (_request, { statusCode }) => end(parseMessage(`HTTP ${statusCode}`)));
      socket.on('close', (_code, reason) => end(parseMessage(reason.toString() || 'the connection was closed early')));
      socket.on('open', () => {
        socket.send(createMessage('speech.config', 'application/json; charset=utf-8', createConfigMessage));
        socket.send(createMessage('ssml', 'application/ssml+xml', toSsml(utterance), randomUUID().replaceAll('-', '')));
      });
      socket.on('message', (data: Buffer, isBinary) => {
        if (!isBinary) {
          if (!/^Path:turn\.end\r?$/m.test(data.toString())) return;
          end(size > 0 ? undefined : parseMessage('no audio received'));
          return;
        }
        // The first two bytes are the length of the header.
        const head = data.length < 2 ? 0 : data.readUInt16BE(0) + 2;
        if (!/^Path:audio\r?$/m.test(data.subarray(2, head).toString())) return;
        size += data.length - head;
        if (size > MAX_AUDIO_BYTES) end(parseMessage('too much audio received'));
        else audio.push(data.subarray(head));
      });
    });
  }
}

const createConfigMessage = JSON.stringify({
  context: {
    synthesis: { audio: { metadataoptions: { sentenceBoundaryEnabled: 'false', wordBoundaryEnabled: 'false' }, outputFormat: FORMAT } },
  },
});

const createMessage = (path: string, type: string, body: string, requestId?: string): string =>
  `${requestId === undefined ? '' : `X-RequestId:${requestId}\r\n`}Content-Type:${type}\r\nX-Timestamp:${new Date().toISOString()}\r\nPath:${path}\r\n\r\n${body}`;

/** Builds the SSML of a request. The text is escaped, so that it can't contain markup. */
function toSsml({ text, voice, rate, pitch }: Utterance): string {
  const language = voice.split('-', 2).join('-');
  return `<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="${language}"><voice name="${voice}"><prosody pitch="${pitch}" rate="${rate}" volume="+0%">${escapeXml(text)}</prosody></voice></speak>`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
const escapeXml = (text: string): string =>
  // Replaces characters that XML does not allow.
  // eslint-disable-next-line no-control-regex
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, ' ').replace(/[&<>"']/g, (each) => ENTITIES[each] ?? '');

/** The service requires a hash of the client id and the time, rounded to five minutes, in Windows ticks. */
function createQuery(): string {
  const seconds = Math.floor(Date.now() / 1000) + 11_644_473_600;
  const ticks = BigInt(seconds - (seconds % 300)) * 10_000_000n;
  const hash = createHash('sha256').update(`${ticks}${CLIENT_ID}`).digest('hex').toUpperCase();
  return new URLSearchParams({ TrustedClientToken: CLIENT_ID, 'Sec-MS-GEC': hash, 'Sec-MS-GEC-Version': VERSION }).toString();
}

const parseMessage = (detail: string): NeuralVoiceError => new NeuralVoiceError(`online voices are unavailable: ${detail}`);

/** Hides Node's connection errors (`getaddrinfo ENOTFOUND …`) from the user. */
const createServiceError = (cause: unknown): NeuralVoiceError =>
  cause instanceof NeuralVoiceError ? cause : new NeuralVoiceError('online voices can’t be reached', { cause });
