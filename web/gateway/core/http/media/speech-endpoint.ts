import { fromBase64 } from '#shared/base64.ts';
import { SSE_HEADERS } from '#shared/http/sse.ts';
import { MAX_SPOKEN } from '#shared/rpc/methods/tts.ts';
import { z } from '#shared/rpc/zod.ts';
import { estimateFor } from '#shared/tokens/estimate.ts';
import { familyOf } from '#shared/tokens/family.ts';
import { DEFAULT_VOICE } from '#shared/voice-id.ts';
import { parseWav, toPcm, writeWav } from '#shared/wav.ts';
import { guessed } from '../../providers/estimate.ts';
import { readJson } from '../body.ts';
import { bodyOf, type Caller, forCaller } from '../caller.ts';
import type { ChatDeps } from '../chat.ts';
import { badRequest, HttpError } from '../errors.ts';
import { IgnoredFields } from '../ignored-fields.ts';
import { parse } from '../parse.ts';
import { findMediaRoute, forTask, requireRelay, SPEECH } from './routes.ts';
import { isEventStream, passBytes, passEvents } from './relayed.ts';
import { findVoice, OPENAI_VOICES, toRate } from './voices.ts';

export const speechRequest = z.looseObject({
  model: z.string().min(1).max(300),
  input: z.string().min(1).max(MAX_SPOKEN),
  voice: z.union([z.string().min(1).max(300), z.looseObject({ id: z.string() })]).nullish(),
  response_format: z.string().max(40).nullish(),
  speed: z.number().min(0.25).max(4).nullish(),
  instructions: z.string().nullish(),
  stream_format: z.enum(['audio', 'sse']).nullish(),
});
type SpeechRequest = z.output<typeof speechRequest>;

/** Model name of Perch's built-in voices. */
const OWN_MODEL = 'perch/tts';
/** OpenAI's model names that clients send by default. */
const USUAL_MODELS = new Set(['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts']);
const OWN_FORMATS = ['mp3', 'wav', 'pcm'] as const;
/** Sample rate, in Hz, of OpenAI's `pcm`. */
const PCM_RATE = 24_000;
const FORMAT_TYPES: Readonly<Record<string, string>> = {
  ...{ mp3: 'audio/mpeg', wav: 'audio/wav', opus: 'audio/ogg', aac: 'audio/aac', flac: 'audio/flac', pcm: 'audio/pcm' },
};

/** `POST /v1/audio/speech`: a provider's speech, or Perch's built-in voices. Throws errors that `toHttpError` explains. */
export function answerSpeech(request: Request, principal: string, deps: ChatDeps): Promise<Response> {
  return forCaller(request, async (caller) => {
    const body = parse(speechRequest, await readJson(request));
    const { signal } = caller.abort;
    const isOwn = body.model === OWN_MODEL || (USUAL_MODELS.has(body.model) && !(await isListed(body.model, signal, deps)));
    return isOwn ? speak(body, caller, deps) : passOn(body, principal, caller, deps);
  });
}

const isListed = async (model: string, signal: AbortSignal, { providers }: ChatDeps): Promise<boolean> =>
  (await providers.list({ signal })).some(({ model_id }) => model_id === model);

async function passOn(body: SpeechRequest, principal: string, caller: Caller, deps: ChatDeps): Promise<Response> {
  const { signal } = caller.abort;
  const { provider, model, key } = await findMediaRoute(body.model, SPEECH, signal, deps);
  const relayed = await forTask(SPEECH, () =>
    requireRelay(provider, SPEECH).relay('/audio/speech', { ...body, model }, signal, { streamed: true }),
  );
  const inputTokens = estimateFor(body.input, familyOf(key));
  const record = (usage = guessed(inputTokens, 0)): void =>
    deps.record?.({ at: deps.clock.now(), provider: provider.id, model: key, principal, usage });
  if (isEventStream(relayed)) {
    const events = passEvents(relayed, { provider: provider.name, record, explain: deps.explain, signal, textOf: () => '', done: false });
    return new Response(bodyOf(events, caller, await events.next()), { headers: SSE_HEADERS });
  }
  const response = await passBytes(relayed, FORMAT_TYPES[body.response_format ?? 'mp3'] ?? 'application/octet-stream', caller);
  record();
  return response;
}

async function speak(body: SpeechRequest, caller: Caller, deps: ChatDeps): Promise<Response> {
  const { input, voice, response_format: asked, speed, stream_format: streamFormat, instructions } = body;
  const format = OWN_FORMATS.find((each) => each === (asked ?? 'mp3'));
  if (!format)
    throw badRequest(`\`response_format\` must be ${OWN_FORMATS.join(', ')} for Perch’s voices. ${SPEECH.add}`, 'response_format');
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
  const params = { text: input, voice: id, rate: toRate(speed ?? 1) };
  const spoken = await deps.speak(format === 'mp3' ? params : { ...params, format: 'wav' }, caller.abort.signal);
  const bytes = fromBase64(spoken.audio);
  caller.settled();
  if (format !== 'mp3' && spoken.mimeType !== 'audio/wav')
    throw new HttpError(503, 'unavailable', 'The bridge is older than the app. Restart Perch, or set `response_format` to "mp3".');
  const sound = format === 'mp3' ? bytes : format === 'wav' ? writeWav(parseWav(bytes)) : toPcm(parseWav(bytes), PCM_RATE);
  const headers = { 'content-type': FORMAT_TYPES[format] ?? '', 'x-perch-voice': encodeURIComponent(spoken.voice) };
  return ignored.report(new Response(sound, { headers }), deps.note);
}
