import { toBase64 } from '#shared/base64.ts';
import { SSE_HEADERS, writeSse } from '#shared/http/sse.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import { guessUsage } from '../../../providers/estimate-usage.ts';
import { toBodyStream, runForCaller } from '../caller.ts';
import type { ChatDeps } from '../chat-endpoint.ts';
import type { Route } from '../../../providers/providers.ts';
import { canTranscribe, type TranscribingProvider } from '../../../providers/transcribing-provider.ts';
import { badRequest } from '../http-error.ts';
import { IgnoredFields } from '../ignored-fields.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import { findMediaRoute, withTaskHint, type MediaTask, requireRelay, TRANSCRIPTION_TASK, TRANSLATION_TASK } from './media-routes.ts';
import { toSafeType, isEventStream, relayEvents, readRelayedJson, readMediaUsage, readRelayedText } from './relayed-response.ts';
import { formBoolean, formNumber, readForm, toFields, fileField, withModel } from './form-upload.ts';
import type { Transcript, TranscriptSegment } from '#shared/ports/transcript.ts';

/** Formats of `response_format` that a transcript with segments has. */
const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;

type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

/** The object of `response_format: "json"`, and without its text the end of a stream. */
const toJson = ({ text, duration }: Transcript) => ({ text, usage: { type: 'duration', seconds: Math.ceil(duration) } });

/** English name of a language, in lower case. */
const getLanguageName = (code: string): string => (new Intl.DisplayNames('en', { type: 'language' }).of(code) ?? code).toLowerCase();

const RESPONSE_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const;

/** Other fields go to the provider unchanged. */
export const transcriptionRequest = z.looseObject({
  file: fileField,
  model: z.string().min(1).max(300),
  language: z.string().max(100).nullish(),
  prompt: z.string().nullish(),
  response_format: z.enum(RESPONSE_FORMATS).nullish(),
  temperature: formNumber(0, 1).optional(),
  stream: formBoolean.optional(),
  timestamp_granularities: z
    .array(z.enum(['word', 'segment']))
    .or(z.enum(['word', 'segment']))
    .optional(),
});

export const translationRequest = z.looseObject({
  file: fileField,
  model: z.string().min(1).max(300),
  prompt: z.string().nullish(),
  response_format: z.enum(RESPONSE_FORMATS).nullish(),
  temperature: formNumber(0, 1).optional(),
});

interface AudioEndpoint {
  path: string;
  task: MediaTask;
  schema: typeof transcriptionRequest | typeof translationRequest;
}

const TRANSCRIPTIONS: AudioEndpoint = { path: '/audio/transcriptions', task: TRANSCRIPTION_TASK, schema: transcriptionRequest };
const TRANSLATIONS: AudioEndpoint = { path: '/audio/translations', task: TRANSLATION_TASK, schema: translationRequest };

/** `POST /v1/audio/transcriptions`. Throws errors that `toHttpError` explains. */
export const handleTranscription = (request: Request, principal: string, deps: ChatDeps): Promise<Response> =>
  handleAudio(request, principal, TRANSCRIPTIONS, deps);

/** `POST /v1/audio/translations`: speech in any language as English text. Throws errors that `toHttpError` explains. */
export const handleTranslation = (request: Request, principal: string, deps: ChatDeps): Promise<Response> =>
  handleAudio(request, principal, TRANSLATIONS, deps);

function handleAudio(request: Request, principal: string, { path, task, schema }: AudioEndpoint, deps: ChatDeps): Promise<Response> {
  return runForCaller(request, async (caller) => {
    const form = await readForm(request);
    const body = parseHttpParams(schema, toFields(form));
    const { signal } = caller.abort;
    const route = await findMediaRoute(body.model, task, signal, deps);
    const { provider, model, key } = route;
    if (canTranscribe(provider))
      return transcribeHere(body, { ...route, provider, translate: task === TRANSLATION_TASK }, principal, deps, signal);
    const isStream = body['stream'] === true;
    const relayed = await withTaskHint(task, () =>
      requireRelay(provider, task).relay(path, withModel(form, model), signal, { streamed: isStream }),
    );
    const record = (reported: Usage | undefined, text: string): void =>
      deps.record?.({
        ...{ at: deps.clock.now(), provider: provider.id, model: key, principal },
        usage: reported ?? guessUsage(0, text.length),
      });
    if (isEventStream(relayed)) {
      const events = relayEvents(relayed, {
        provider: provider.name,
        record,
        explain: deps.explain,
        signal,
        getText: toDelta,
        done: false,
      });
      return new Response(toBodyStream(events, caller, await events.next()), { headers: SSE_HEADERS });
    }
    const isText = body.response_format === 'text' || body.response_format === 'srt' || body.response_format === 'vtt';
    const result = isText
      ? { text: await readRelayedText(provider.name, relayed), value: {} }
      : await readRelayedJson(provider.name, relayed);
    caller.release();
    const { text, value } = result;
    record(readMediaUsage(value), 'text' in value && typeof value.text === 'string' ? value.text : text);
    const type = isText ? 'text/plain; charset=utf-8' : 'application/json';
    return new Response(text, { headers: { 'content-type': toSafeType(relayed.contentType, type) } });
  });
}

/** Fields that models in this browser use. */
const LOCAL_FIELDS = new Set(['file', 'model', 'language', 'response_format', 'stream']);

/** Transcribes with a model that Perch runs itself. */
async function transcribeHere(
  body: z.output<typeof transcriptionRequest | typeof translationRequest>,
  { provider, model, key, translate }: Route & { provider: TranscribingProvider; translate: boolean },
  principal: string,
  deps: ChatDeps,
  signal: AbortSignal,
): Promise<Response> {
  const format = TRANSCRIPT_FORMATS.find((each) => each === (body.response_format ?? 'json'));
  if (!format)
    throw badRequest(`\`response_format\` must be ${TRANSCRIPT_FORMATS.join(', ')} for models in this browser.`, 'response_format');
  const ignored = new IgnoredFields();
  for (const [name, value] of Object.entries(body)) if (value != null && !LOCAL_FIELDS.has(name)) ignored.add(name);
  const language = typeof body['language'] === 'string' && body['language'] !== '' ? { language: body['language'] } : {};
  const audio = toBase64(new Uint8Array(await body.file.arrayBuffer()));
  const transcript = await provider.transcribe(model, { audio, translate, ...language }, signal);
  deps.record?.({
    ...{ at: deps.clock.now(), provider: provider.id, model: key, principal },
    usage: guessUsage(0, transcript.text.length),
  });
  if (body['stream'] === true) {
    const { text, usage } = toJson(transcript);
    const events = [
      { type: 'transcript.text.delta', delta: text },
      { type: 'transcript.text.done', text, usage },
    ];
    return ignored.report(
      new Response(events.map((event) => writeSse(JSON.stringify(event))).join(''), { headers: SSE_HEADERS }),
      deps.note,
    );
  }
  const { body: content, type } = formatTranscript(transcript, format);
  return ignored.report(new Response(content, { headers: { 'content-type': type } }), deps.note);
}

const toDelta = (event: object): string => ('delta' in event && typeof event.delta === 'string' ? event.delta : '');

/** The response's body and content type, as OpenAI sends them. */
function formatTranscript(transcript: Transcript, format: TranscriptFormat): { body: string; type: string } {
  if (format === 'json' || format === 'verbose_json')
    return { body: JSON.stringify(format === 'json' ? toJson(transcript) : toVerboseJson(transcript)), type: 'application/json' };
  const body = format === 'text' ? `${transcript.text}\n` : formatSubtitles(transcript.segments, format);
  return { body, type: format === 'vtt' ? 'text/vtt; charset=utf-8' : 'text/plain; charset=utf-8' };
}

function toVerboseJson(transcript: Transcript) {
  const { text, language, duration, segments } = transcript;
  return {
    ...{ task: 'transcribe', language: language === null ? 'english' : getLanguageName(language), duration, text },
    segments: segments.map((segment, id) => ({ id, ...segment })),
    usage: toJson(transcript).usage,
  };
}

function formatSubtitles(segments: readonly TranscriptSegment[], format: 'srt' | 'vtt'): string {
  const mark = format === 'srt' ? ',' : '.';
  const cues = segments.map(
    ({ start, end, text }, index) =>
      `${format === 'srt' ? `${index + 1}\n` : ''}${formatTime(start, mark)} --> ${formatTime(end, mark)}\n${text.replaceAll('-->', '->')}\n`,
  );
  return [...(format === 'vtt' ? ['WEBVTT\n'] : []), ...cues].join('\n');
}

/** `00:00:01,500` */
function formatTime(seconds: number, mark: ',' | '.'): string {
  const total = Math.round(seconds * 1000);
  const pad = (value: number, length = 2): string => String(value).padStart(length, '0');
  return `${pad(Math.floor(total / 3_600_000))}:${pad(Math.floor(total / 60_000) % 60)}:${pad(Math.floor(total / 1000) % 60)}${mark}${pad(total % 1000, 3)}`;
}
