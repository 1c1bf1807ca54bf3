import { SseScanner, type SseEvent } from '#shared/http/sse.ts';
import { isSplicedResponse } from '#shared/link/splice.ts';
import { z } from '#shared/rpc/zod.ts';
import { isMessagesApi, ANTHROPIC_VERSION_HEADER } from '#shared/http/messages-api.ts';
import {
  message,
  createMessageEventsChecker,
  messagesErrorResponse,
  messagesModel,
  messagesModelPage,
  tokenCount,
} from '../anthropic-shapes.ts';
import { completion, completionChunk } from './chat-shapes.ts';
import { errorResponse } from './error-shapes.ts';
import { responseEvent } from './event-shapes.ts';
import { embeddingList, model, modelList, moderation, ranking } from './list-shapes.ts';
import { compaction, deletedResponse, inputTokens, itemList, response } from './response-shapes.ts';
import { conversation, deletedConversation, conversationItem, file, deletedFile, fileList } from './stored-shapes.ts';
import { imageList, textCompletion, transcript } from './media-shapes.ts';

/** Schema of a successful response, by method and path. */
const RESPONSE_SHAPES: readonly (readonly [RegExp, z.ZodType])[] = [
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
  [/^DELETE \/v1\/responses\/[^/]+$/, deletedResponse],
  [/^GET \/v1\/responses\/[^/]+\/input_items$/, itemList],
  [/^POST \/v1\/files$/, file],
  [/^GET \/v1\/files$/, fileList],
  [/^GET \/v1\/files\/[^/]+$/, file],
  [/^DELETE \/v1\/files\/[^/]+$/, deletedFile],
  [/^POST \/v1\/conversations(?:\/[^/]+)?$/, conversation],
  [/^GET \/v1\/conversations\/[^/]+$/, conversation],
  [/^DELETE \/v1\/conversations\/[^/]+$/, deletedConversation],
  [/^(?:GET|POST) \/v1\/conversations\/[^/]+\/items$/, itemList],
  [/^GET \/v1\/conversations\/[^/]+\/items\/[^/]+$/, conversationItem],
  [/^DELETE \/v1\/conversations\/[^/]+\/items\/[^/]+$/, conversation],
];

/** Schema of a successful response of Anthropic's Messages API. */
const MESSAGES_RESPONSE_SHAPES: typeof RESPONSE_SHAPES = [
  [/^POST \/v1\/messages$/, message],
  [/^POST \/v1\/messages\/count_tokens$/, tokenCount],
  [/^GET \/v1\/models$/, messagesModelPage],
  [/^GET \/v1\/models\/.+$/, messagesModel],
];

const getShape = (route: string, isMessages: boolean): z.ZodType =>
  (isMessages ? MESSAGES_RESPONSE_SHAPES : RESPONSE_SHAPES).find(([pattern]) => pattern.test(route))?.[1] ?? z.never();

/** Describes how a value differs from its schema; undefined if it matches. */
function findMismatch(text: string, shape: z.ZodType): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `no JSON: ${text.slice(0, 200)}`;
  }
  const parsed = shape.safeParse(value);
  return parsed.success ? undefined : `${z.prettifyError(parsed.error)}\n${text.slice(0, 2000)}`;
}

/** Chunks or errors, then one `[DONE]`, after which nothing follows. */
function createChatEventsChecker(shape: z.ZodType): (event: SseEvent) => string | undefined {
  let done = false;
  return ({ data }) => {
    if (done) return `behind [DONE]: ${data.slice(0, 200)}`;
    done = data === '[DONE]';
    return done ? undefined : findMismatch(data, data.startsWith('{"error"') ? errorResponse : shape);
  };
}

/** Events of audio and images: JSON that names its type, or an error. */
const mediaEvent = ({ data }: SseEvent): string | undefined =>
  findMismatch(data, data.startsWith('{"error"') ? errorResponse : z.looseObject({ type: z.string() }));

/** Checks that events are named by their type and numbered. */
function createResponseEventsChecker(first = 0): (event: SseEvent) => string | undefined {
  let next = first;
  return ({ event, data }) => {
    const mismatch = findMismatch(data, responseEvent);
    if (mismatch !== undefined) return mismatch;
    const { type, sequence_number: number } = responseEvent.parse(JSON.parse(data));
    if (type !== event) return `${type} is called ${event}`;
    return number === next++ ? undefined : `${type} has the number ${number}`;
  };
}

/** A resumed stream continues after an event. */
const getFirstSequence = (url: string): number => Number(new URL(url).searchParams.get('starting_after') ?? -1) + 1;

function createEventChecker(path: string, url: string): (event: SseEvent) => string | undefined {
  if (path.startsWith('/v1/responses')) return createResponseEventsChecker(getFirstSequence(url));
  if (/^\/v1\/(audio|images)\//.test(path)) return mediaEvent;
  return createChatEventsChecker(path === '/v1/completions' ? textCompletion : completionChunk);
}

/** Passes the bytes through and checks each event. */
function watchEvents(
  check: (event: SseEvent) => string | undefined,
  report: (mismatch: string) => void,
): TransformStream<Uint8Array, Uint8Array> {
  const scanner = new SseScanner();
  const checkAll = (events: SseEvent[]): void => {
    for (const event of events) {
      const mismatch = check(event);
      if (mismatch !== undefined) report(mismatch);
    }
  };
  return new TransformStream(
    {
      transform(chunk, controller) {
        checkAll(scanner.push(chunk));
        controller.enqueue(chunk);
      },
      flush: () => checkAll(scanner.end()),
    },
    undefined,
    // Reads from the source only on demand.
    { highWaterMark: 0 },
  );
}

/**
 * The response to a request to `/v1`, checked against the schemas of the public reference: differences are added to `mismatches`. A response
 * that the bridge sends instead is checked there.
 */
export async function checkConformance(
  { method, url, headers: requestHeaders }: Pick<Request, 'method' | 'url'> & { headers?: Headers },
  answer: Response,
  mismatches: Set<string>,
): Promise<Response> {
  const path = new URL(url).pathname.replace(/\/+$/, '');
  // File content is not JSON.
  if (answer.headers.get('content-type') === 'application/octet-stream') return answer;
  if (!path.startsWith('/v1') || isSplicedResponse(answer) || answer.body === null || method === 'HEAD') return answer;
  const isMessages = isMessagesApi(path, requestHeaders?.get(ANTHROPIC_VERSION_HEADER));
  const route = `${method} ${path}`;
  const report = (mismatch: string): void => void mismatches.add(`${route} ${answer.status}: ${mismatch}`);
  const { status, statusText, headers } = answer;
  if (headers.get('content-type')?.startsWith('text/event-stream')) {
    const check = isMessages ? createMessageEventsChecker() : createEventChecker(path, url);
    return new Response(answer.body.pipeThrough(watchEvents(check, report)), { status, statusText, headers });
  }
  // Sound and subtitles.
  if (answer.ok && /^(audio|text)\//.test(headers.get('content-type') ?? '')) return answer;
  const text = await answer.text();
  const mismatch = findMismatch(text, answer.ok ? getShape(route, isMessages) : isMessages ? messagesErrorResponse : errorResponse);
  if (mismatch !== undefined) report(mismatch);
  return new Response(text, { status, statusText, headers });
}

/** Throws if there are mismatches. */
export function throwOnMismatches(mismatches: ReadonlySet<string>): void {
  if (mismatches.size > 0) throw new Error(`answers are not as the public reference has them:\n${[...mismatches].join('\n')}`);
}
