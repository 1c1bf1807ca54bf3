import { SSE_HEADERS } from '#shared/http/sse.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import { guessed } from '../../providers/estimate.ts';
import { bodyOf, forCaller } from '../caller.ts';
import type { ChatDeps } from '../chat.ts';
import { parse } from '../parse.ts';
import { findMediaRoute, forTask, type MediaTask, requireRelay, TRANSCRIPTION, TRANSLATION } from './routes.ts';
import { harmlessType, isEventStream, passEvents, readJsonAnswer, readMediaUsage, readText } from './relayed.ts';
import { formBoolean, formNumber, readForm, toFields, upload, withModel } from './upload.ts';

const FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const;

/** Other fields go to the provider unchanged. */
export const transcriptionRequest = z.looseObject({
  file: upload,
  model: z.string().min(1).max(300),
  language: z.string().max(100).nullish(),
  prompt: z.string().nullish(),
  response_format: z.enum(FORMATS).nullish(),
  temperature: formNumber(0, 1).optional(),
  stream: formBoolean.optional(),
  timestamp_granularities: z
    .array(z.enum(['word', 'segment']))
    .or(z.enum(['word', 'segment']))
    .optional(),
});

export const translationRequest = z.looseObject({
  file: upload,
  model: z.string().min(1).max(300),
  prompt: z.string().nullish(),
  response_format: z.enum(FORMATS).nullish(),
  temperature: formNumber(0, 1).optional(),
});

interface Endpoint {
  path: string;
  task: MediaTask;
  schema: typeof transcriptionRequest | typeof translationRequest;
}

const TRANSCRIPTIONS: Endpoint = { path: '/audio/transcriptions', task: TRANSCRIPTION, schema: transcriptionRequest };
const TRANSLATIONS: Endpoint = { path: '/audio/translations', task: TRANSLATION, schema: translationRequest };

/** `POST /v1/audio/transcriptions`. Throws errors that `toHttpError` explains. */
export const answerTranscription = (request: Request, principal: string, deps: ChatDeps): Promise<Response> =>
  answer(request, principal, TRANSCRIPTIONS, deps);

/** `POST /v1/audio/translations`: speech in any language as English text. Throws errors that `toHttpError` explains. */
export const answerTranslation = (request: Request, principal: string, deps: ChatDeps): Promise<Response> =>
  answer(request, principal, TRANSLATIONS, deps);

function answer(request: Request, principal: string, { path, task, schema }: Endpoint, deps: ChatDeps): Promise<Response> {
  return forCaller(request, async (caller) => {
    const form = await readForm(request);
    const body = parse(schema, toFields(form));
    const { signal } = caller.abort;
    const { provider, model, key } = await findMediaRoute(body.model, task, signal, deps);
    const streams = body['stream'] === true;
    const relayed = await forTask(task, () =>
      requireRelay(provider, task).relay(path, withModel(form, model), signal, { streamed: streams }),
    );
    const record = (told: Usage | undefined, text: string): void =>
      deps.record?.({
        ...{ at: deps.clock.now(), provider: provider.id, model: key, principal },
        usage: told ?? guessed(0, text.length),
      });
    if (isEventStream(relayed)) {
      const events = passEvents(relayed, { provider: provider.name, record, explain: deps.explain, signal, textOf: toDelta, done: false });
      return new Response(bodyOf(events, caller, await events.next()), { headers: SSE_HEADERS });
    }
    const isText = body.response_format === 'text' || body.response_format === 'srt' || body.response_format === 'vtt';
    const answer = isText ? { text: await readText(provider.name, relayed), value: {} } : await readJsonAnswer(provider.name, relayed);
    caller.settled();
    const { text, value } = answer;
    record(readMediaUsage(value), 'text' in value && typeof value.text === 'string' ? value.text : text);
    const type = isText ? 'text/plain; charset=utf-8' : 'application/json';
    return new Response(text, { headers: { 'content-type': harmlessType(relayed.contentType, type) } });
  });
}

const toDelta = (event: object): string => ('delta' in event && typeof event.delta === 'string' ? event.delta : '');
