import { SseScanner, type SseEvent } from '#shared/http/sse.ts';
import { isSpliced } from '#shared/link/splice.ts';
import { z } from '#shared/rpc/zod.ts';
import { isMessagesApi, VERSION_HEADER } from '#shared/http/messages-api.ts';
import { message, messageEventsLook, messagesErrorAnswer, messagesModel, messagesModelPage, tokenCount } from '../anthropic-shapes.ts';
import { completion, completionChunk } from './chat.ts';
import { errorAnswer } from './errors.ts';
import { responseEvent } from './events.ts';
import { embeddingList, model, modelList, moderation, ranking } from './lists.ts';
import { compaction, deleted, inputTokens, itemList, response } from './responses.ts';
import { conversation, conversationDeleted, conversationItem, file, fileDeleted, fileList } from './stored.ts';
import { imageList, textCompletion, transcript } from './media.ts';

/** Schema of a successful response, by method and path. */
const ANSWERS: readonly (readonly [RegExp, z.ZodType])[] = [
  [/^POST \/v1\/chat\/completions$/, completion],
  [/^GET \/v1\/models$/, modelList],
  [/^GET \/v1\/models\/.+$/, model],
  [/^POST \/v1\/completions$/, textCompletion],
  [/^POST \/v1\/audio\/(transcriptions|translations)$/, transcript],
  [/^POST \/v1\/images\/(generations|edits)$/, imageList],
  [/^POST \/v1\/embeddings$/, embeddingList],
  [/^POST \/v1\/responses$/, response],
  [/^POST \/v1\/responses\/input_tokens$/, inputTokens],
  [/^POST \/v1\/responses\/compact$/, compaction],
  [/^POST \/v1\/rerank$/, ranking],
  [/^POST \/v1\/moderations$/, moderation],
  [/^GET \/v1\/responses\/[^/]+$/, response],
  [/^POST \/v1\/responses\/[^/]+\/cancel$/, response],
  [/^DELETE \/v1\/responses\/[^/]+$/, deleted],
  [/^GET \/v1\/responses\/[^/]+\/input_items$/, itemList],
  [/^POST \/v1\/files$/, file],
  [/^GET \/v1\/files$/, fileList],
  [/^GET \/v1\/files\/[^/]+$/, file],
  [/^DELETE \/v1\/files\/[^/]+$/, fileDeleted],
  [/^POST \/v1\/conversations(?:\/[^/]+)?$/, conversation],
  [/^GET \/v1\/conversations\/[^/]+$/, conversation],
  [/^DELETE \/v1\/conversations\/[^/]+$/, conversationDeleted],
  [/^(?:GET|POST) \/v1\/conversations\/[^/]+\/items$/, itemList],
  [/^GET \/v1\/conversations\/[^/]+\/items\/[^/]+$/, conversationItem],
  [/^DELETE \/v1\/conversations\/[^/]+\/items\/[^/]+$/, conversation],
];

/** The same of Anthropic's Messages API. */
const MESSAGES_ANSWERS: typeof ANSWERS = [
  [/^POST \/v1\/messages$/, message],
  [/^POST \/v1\/messages\/count_tokens$/, tokenCount],
  [/^GET \/v1\/models$/, messagesModelPage],
  [/^GET \/v1\/models\/.+$/, messagesModel],
];

const shapeOf = (route: string, isMessages: boolean): z.ZodType =>
  (isMessages ? MESSAGES_ANSWERS : ANSWERS).find(([pattern]) => pattern.test(route))?.[1] ?? z.never();

/** Describes how a value differs from its schema; undefined if it matches. */
function misfitOf(text: string, shape: z.ZodType): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `no JSON: ${text.slice(0, 200)}`;
  }
  const parsed = shape.safeParse(value);
  return parsed.success ? undefined : `${z.prettifyError(parsed.error)}\n${text.slice(0, 2000)}`;
}

/** Chunks or errors, then one `[DONE]`, behind which nothing comes. */
function chatEvents(shape: z.ZodType): (event: SseEvent) => string | undefined {
  let done = false;
  return ({ data }) => {
    if (done) return `behind [DONE]: ${data.slice(0, 200)}`;
    done = data === '[DONE]';
    return done ? undefined : misfitOf(data, data.startsWith('{"error"') ? errorAnswer : shape);
  };
}

/** Events of audio and images: JSON that names its type, or an error. */
const mediaEvent = ({ data }: SseEvent): string | undefined =>
  misfitOf(data, data.startsWith('{"error"') ? errorAnswer : z.looseObject({ type: z.string() }));

/** Checks that events are named by their type and numbered. */
function responseEvents(first = 0): (event: SseEvent) => string | undefined {
  let next = first;
  return ({ event, data }) => {
    const misfit = misfitOf(data, responseEvent);
    if (misfit !== undefined) return misfit;
    const { type, sequence_number: number } = responseEvent.parse(JSON.parse(data));
    if (type !== event) return `${type} is called ${event}`;
    return number === next++ ? undefined : `${type} has the number ${number}`;
  };
}

/** A resumed stream continues after an event. */
const firstNumber = (url: string): number => Number(new URL(url).searchParams.get('starting_after') ?? -1) + 1;

function lookOf(path: string, url: string): (event: SseEvent) => string | undefined {
  if (path.startsWith('/v1/responses')) return responseEvents(firstNumber(url));
  if (/^\/v1\/(audio|images)\//.test(path)) return mediaEvent;
  return chatEvents(path === '/v1/completions' ? textCompletion : completionChunk);
}

/** The same bytes; each event is looked at as it passes. */
function watched(look: (event: SseEvent) => string | undefined, tell: (misfit: string) => void): TransformStream<Uint8Array, Uint8Array> {
  const scanner = new SseScanner();
  const see = (events: SseEvent[]): void => {
    for (const event of events) {
      const misfit = look(event);
      if (misfit !== undefined) tell(misfit);
    }
  };
  return new TransformStream(
    {
      transform(chunk, controller) {
        see(scanner.push(chunk));
        controller.enqueue(chunk);
      },
      flush: () => see(scanner.end()),
    },
    undefined,
    // Reads from the source only on demand.
    { highWaterMark: 0 },
  );
}

/**
 * The response to a request to `/v1`, checked against the schemas of the public reference: differences are added to `misfits`. A response
 * that the bridge sends instead is checked there.
 */
export async function conforming(
  { method, url, headers: asked }: Pick<Request, 'method' | 'url'> & { headers?: Headers },
  answer: Response,
  misfits: Set<string>,
): Promise<Response> {
  const path = new URL(url).pathname.replace(/\/+$/, '');
  // Content of files is bytes.
  if (answer.headers.get('content-type') === 'application/octet-stream') return answer;
  if (!path.startsWith('/v1') || isSpliced(answer) || answer.body === null || method === 'HEAD') return answer;
  const isMessages = isMessagesApi(path, asked?.get(VERSION_HEADER));
  const route = `${method} ${path}`;
  const tell = (misfit: string): void => void misfits.add(`${route} ${answer.status}: ${misfit}`);
  const { status, statusText, headers } = answer;
  if (headers.get('content-type')?.startsWith('text/event-stream')) {
    const look = isMessages ? messageEventsLook() : lookOf(path, url);
    return new Response(answer.body.pipeThrough(watched(look, tell)), { status, statusText, headers });
  }
  // Sound and subtitles.
  if (answer.ok && /^(audio|text)\//.test(headers.get('content-type') ?? '')) return answer;
  const text = await answer.text();
  const misfit = misfitOf(text, answer.ok ? shapeOf(route, isMessages) : isMessages ? messagesErrorAnswer : errorAnswer);
  if (misfit !== undefined) tell(misfit);
  return new Response(text, { status, statusText, headers });
}

/** Throws if there are any. */
export function refuseMisfits(misfits: ReadonlySet<string>): void {
  if (misfits.size > 0) throw new Error(`answers are not as the public reference has them:\n${[...misfits].join('\n')}`);
}
