import { SSE_HEADERS } from '#shared/http/sse.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import { guessUsage } from '../../../providers/estimate-usage.ts';
import { toBodyStream, runForCaller } from '../caller.ts';
import type { ChatDeps } from '../chat-endpoint.ts';
import { parseParams } from '../parse-params.ts';
import { findMediaRoute, withTaskHint, type MediaTask, requireRelay, TRANSCRIPTION_TASK, TRANSLATION_TASK } from './media-routes.ts';
import { toSafeType, isEventStream, relayEvents, readRelayedJson, readMediaUsage, readRelayedText } from './relayed-response.ts';
import { formBoolean, formNumber, readForm, toFields, fileField, withModel } from './form-upload.ts';

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
    const body = parseParams(schema, toFields(form));
    const { signal } = caller.abort;
    const { provider, model, key } = await findMediaRoute(body.model, task, signal, deps);
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

const toDelta = (event: object): string => ('delta' in event && typeof event.delta === 'string' ? event.delta : '');
