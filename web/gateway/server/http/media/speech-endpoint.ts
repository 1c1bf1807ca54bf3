import { fromBase64 } from '#shared/base64.ts';
import { SSE_HEADERS } from '#shared/http/sse.ts';
import { encodedFormat, type EncodedFormat } from '#shared/ports/audio-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { MAX_SPEECH_CHARS } from '#shared/rpc/methods/tts-contracts.ts';
import { z } from '#shared/rpc/zod.ts';
import { estimateForFamily } from '#shared/tokens/estimate-for-family.ts';
import { getTokenFamily } from '#shared/tokens/token-family.ts';
import { DEFAULT_VOICE, SYSTEM_VOICE_ID_PATTERN, VOICE_ID_PATTERN } from '#shared/voice-id.ts';
import { parseWav, toPcm, writeWav } from '#shared/wav.ts';
import { guessUsage } from '../../../providers/estimate-usage.ts';
import { readJson } from '../request-body.ts';
import { toBodyStream, type Caller, runForCaller } from '../caller.ts';
import type { ChatDeps } from '../chat-endpoint.ts';
import { badRequest, HttpError } from '../http-error.ts';
import { IgnoredFields } from '../ignored-fields.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import { findMediaRoute, withTaskHint, requireRelay, SPEECH_TASK } from './media-routes.ts';
import { isEventStream, relayBytes, relayEvents } from './relayed-response.ts';

/** Maps OpenAI's voices to online voices that speak any language. */
const OPENAI_VOICE_IDS = {
  alloy: 'en-US-AvaMultilingualNeural',
  ash: 'en-US-AndrewMultilingualNeural',
  ballad: 'en-GB-RyanNeural',
  cedar: 'en-US-AndrewMultilingualNeural',
  coral: 'en-US-EmmaMultilingualNeural',
  echo: 'en-US-BrianMultilingualNeural',
  fable: 'en-GB-RyanNeural',
  marin: 'en-US-AvaMultilingualNeural',
  nova: 'en-US-EmmaMultilingualNeural',
  onyx: 'en-US-BrianMultilingualNeural',
  sage: 'en-US-AvaMultilingualNeural',
  shimmer: 'en-US-EmmaMultilingualNeural',
  verse: 'en-US-AndrewMultilingualNeural',
} as const;

const OPENAI_VOICES = Object.keys(OPENAI_VOICE_IDS);

export const speechRequest = z.looseObject({
  model: z.string().min(1).max(300),
  input: z.string().min(1).max(MAX_SPEECH_CHARS),
  voice: z.union([z.string().min(1).max(300), z.looseObject({ id: z.string() })]).nullish(),
  response_format: z.string().max(40).nullish(),
  speed: z.number().min(0.25).max(4).nullish(),
  instructions: z.string().nullish(),
  stream_format: z.enum(['audio', 'sse']).nullish(),
});
type SpeechRequest = z.output<typeof speechRequest>;

/** Model name of Perch's built-in voices. */
const BUILTIN_MODEL = 'perch/tts';
/** OpenAI's model names that clients send by default. */
const DEFAULT_MODELS = new Set(['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts']);
const BUILTIN_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;
/** Formats that a browser may be unable to encode. */
const BASIC_FORMATS = ['mp3', 'wav', 'pcm'] as const;
/** Sample rate, in Hz, of OpenAI's `pcm`. */
const PCM_SAMPLE_RATE = 24_000;
const FORMAT_TYPES: Readonly<Record<string, string>> = {
  ...{ mp3: 'audio/mpeg', wav: 'audio/wav', opus: 'audio/ogg', aac: 'audio/aac', flac: 'audio/flac', pcm: 'audio/pcm' },
};

/** `POST /v1/audio/speech`: a provider's speech, or Perch's built-in voices. Throws errors that `toHttpError` explains. */
export function handleSpeech(request: Request, principal: string, deps: ChatDeps): Promise<Response> {
  return runForCaller(request, async (caller) => {
    const body = parseHttpParams(speechRequest, await readJson(request));
    const { signal } = caller.abort;
    const isBuiltin = body.model === BUILTIN_MODEL || (DEFAULT_MODELS.has(body.model) && !(await isListed(body.model, signal, deps)));
    return isBuiltin ? speakWithBuiltin(body, caller, deps) : forwardSpeech(body, principal, caller, deps);
  });
}

const isListed = async (model: string, signal: AbortSignal, { providers }: ChatDeps): Promise<boolean> =>
  (await providers.list({ signal })).some(({ model_id }) => model_id === model);

async function forwardSpeech(body: SpeechRequest, principal: string, caller: Caller, deps: ChatDeps): Promise<Response> {
  const { signal } = caller.abort;
  const { provider, model, key } = await findMediaRoute(body.model, SPEECH_TASK, signal, deps);
  const relayed = await withTaskHint(SPEECH_TASK, () =>
    requireRelay(provider, SPEECH_TASK).relay('/audio/speech', { ...body, model }, signal, { streamed: true }),
  );
  const inputTokens = estimateForFamily(body.input, getTokenFamily(key));
  const record = (usage = guessUsage(inputTokens, 0)): void =>
    deps.record?.({ at: deps.clock.now(), provider: provider.id, model: key, principal, usage });
  if (isEventStream(relayed)) {
    const events = relayEvents(relayed, { provider: provider.name, record, explain: deps.explain, signal, getText: () => '', done: false });
    return new Response(toBodyStream(events, caller, await events.next()), { headers: SSE_HEADERS });
  }
  const response = await relayBytes(relayed, FORMAT_TYPES[body.response_format ?? 'mp3'] ?? 'application/octet-stream', caller);
  record();
  return response;
}

async function speakWithBuiltin(body: SpeechRequest, caller: Caller, deps: ChatDeps): Promise<Response> {
  const { input, voice, response_format: requestedFormat, speed, stream_format: streamFormat, instructions } = body;
  const format = BUILTIN_FORMATS.find((format) => format === (requestedFormat ?? 'mp3'));
  if (!format)
    throw badRequest(
      `\`response_format\` must be ${BUILTIN_FORMATS.join(', ')} for Perch’s voices. ${SPEECH_TASK.hint}`,
      'response_format',
    );
  if (streamFormat === 'sse') throw badRequest('`stream_format` must be "audio" for Perch’s voices.', 'stream_format');
  const ignored = new IgnoredFields();
  if (instructions) ignored.add('instructions');
  const name = typeof voice === 'string' ? voice : voice?.id;
  const id = name === undefined ? DEFAULT_VOICE : findVoice(name);
  if (id === undefined)
    throw badRequest(
      `\`voice\` must be one of ${OPENAI_VOICES.join(', ')}, or the id of a voice that \`tts.voices\` lists, such as ${DEFAULT_VOICE}.`,
      'voice',
    );
  if (input.trim() === '') throw badRequest('`input` has no text.', 'input');
  const params = { text: input, voice: id, rate: toSpeechRate(speed ?? 1) };
  const { signal } = caller.abort;
  const encoded = encodedFormat.safeParse(format).data;
  const isMp3 = format === 'mp3' || encoded !== undefined;
  const speech = await deps.speak(isMp3 ? params : { ...params, format: 'wav' }, signal);
  const bytes = fromBase64(encoded === undefined ? speech.audio : await encodeSpeech(speech.audio, encoded, signal, deps));
  caller.release();
  if (!isMp3 && speech.mimeType !== 'audio/wav')
    throw new HttpError(503, 'unavailable', 'The bridge is older than the app. Restart Perch, or set `response_format` to "mp3".');
  const audio = isMp3 ? bytes : format === 'wav' ? writeWav(parseWav(bytes)) : toPcm(parseWav(bytes), PCM_SAMPLE_RATE);
  const headers = { 'content-type': FORMAT_TYPES[format] ?? '', 'x-perch-voice': encodeURIComponent(speech.voice) };
  return ignored.report(new Response(audio, { headers }), deps.note);
}

/** Converts MP3. Throws a 400 that names the formats that always work if the browser can't. */
async function encodeSpeech(audio: string, format: EncodedFormat, signal: AbortSignal, deps: ChatDeps): Promise<string> {
  try {
    return await deps.convertAudio(audio, format, signal);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const reason = error.code === 'INVALID_PARAMS' ? `This browser can’t encode ${format}.` : error.message;
    const formats = error.code === 'INVALID_PARAMS' && format !== 'opus' ? ['opus', ...BASIC_FORMATS] : BASIC_FORMATS;
    throw badRequest(`${reason} Set \`response_format\` to ${formats.join(', ')}.`, 'response_format');
  }
}

/** The id of a voice by OpenAI's name or by its own id, as `tts.voices` lists it; undefined for other names. */
function findVoice(name: string): string | undefined {
  if (Object.hasOwn(OPENAI_VOICE_IDS, name)) return OPENAI_VOICE_IDS[name as keyof typeof OPENAI_VOICE_IDS];
  return VOICE_ID_PATTERN.test(name) || SYSTEM_VOICE_ID_PATTERN.test(name) ? name : undefined;
}

/** Converts OpenAI's `speed` to a rate of the built-in voices. */
function toSpeechRate(speed: number): string {
  const percent = Math.round((speed - 1) * 100);
  return `${percent < 0 ? '' : '+'}${percent}%`;
}
