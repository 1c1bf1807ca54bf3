import { type Envelope } from '#shared/http/envelope.ts';
import { writeSse } from '#shared/http/sse.ts';
import { KEPT_BODY, splicedResponse } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { estimateFor } from '#shared/tokens/estimate.ts';
import { familyOf } from '#shared/tokens/family.ts';
import { guessed } from '../providers/estimate.ts';
import { canForward, type PastHost } from '../providers/forwarding.ts';
import { readWritten } from './body.ts';
import { bodyOf, type Caller, forCaller, streamed } from './caller.ts';
import { readEnvelope, readKnown } from './chat-request.ts';
import { completionHead, DONE } from './completion.ts';
import { badRequest, chatName, type HttpError } from './errors.ts';
import { withUploadedFiles } from './files/file-references.ts';
import type { ApiFiles } from './files/files.ts';
import { passStream, passWhole } from './forward.ts';
import { type EventSource, streamFromEvents, wholeFromEvents } from './from-events.ts';
import type { HttpDeps } from './deps.ts';
import { IgnoredFields, withoutUnsupported } from './ignored-fields.ts';
import { agentOf, agentSession, headerSession, routeOf } from './target.ts';
import type { SocketTurn } from './responses/local-responses.ts';
import type { Thoughts } from './thoughts.ts';
import { translated } from './translated.ts';

export interface ChatDeps extends HttpDeps {
  thoughts: Thoughts;
  /** Files that API clients have uploaded. */
  uploads: () => Promise<ApiFiles>;
  /** The request's ID in the log. */
  requestId: string;
  /** Converts a failure of this request to a displayable error, and logs it under the request's ID. */
  explain(error: unknown): HttpError;
  /** Stream of the request if the bridge can answer it without the host. */
  exchange?: Stream | undefined;
  /** Set for a request that came over a WebSocket. */
  turn?: SocketTurn | undefined;
}

interface Call {
  body: Envelope;
  /** As the bridge has it; undefined if that is unknown. */
  text: string | undefined;
  principal: string;
  /** Aborted when the client disconnects. */
  abort: AbortController;
  sessionId: string | undefined;
  ignored: IgnoredFields;
}

/** `POST /v1/chat/completions`. Throws errors that `toHttpError` explains. */
export function answerChat(request: Request, principal: string, deps: ChatDeps): Promise<Response> {
  return forCaller(request, async (caller) => {
    const { value, text, size } = await readWritten(request);
    const complete = await withUploadedFiles(value, principal, deps.uploads);
    const body = readEnvelope(complete);
    const ignored = new IgnoredFields();
    // The bridge has the body as sent, without the uploaded files.
    const kept = complete === value && isKept(text, size) ? text : undefined;
    const call = { body, text: kept, principal, abort: caller.abort, sessionId: headerSession(request), ignored };
    const agentId = agentOf(body.model, deps);
    const source = agentId === undefined ? await direct(call, deps) : agent(call, agentId, deps);
    if (source.spliced) return source.spliced(caller);
    if (body.stream) return ignored.report(await streamed(source.stream(), caller), deps.note);
    const whole = await source.whole();
    caller.settled();
    return ignored.report(new Response(whole, { headers: { 'content-type': 'application/json' } }), deps.note);
  });
}

/** An answer in the format that the client wants. */
interface Source {
  /** Server-sent events; throws only before the first. */
  stream(): AsyncGenerator<string>;
  /** JSON text. */
  whole(): Promise<string>;
  /** Set if the bridge sends the answer; then neither of the others is called. */
  spliced?: (caller: Caller) => Response;
}

function eventSource(source: EventSource, call: Call, { explain }: ChatDeps): Source {
  const withUsage = call.body.stream_options?.include_usage === true;
  return {
    stream: () => streamFromEvents(source, { withUsage, signal: call.abort.signal, explain }),
    whole: async () => JSON.stringify(await wholeFromEvents(source)),
  };
}

function agent(call: Call, agentId: string, deps: ChatDeps): Source {
  const { body, principal, abort, ignored } = call;
  const { messages, wishes, user, tools } = readKnown(body, ignored);
  if ((body.n ?? 1) > 1) throw badRequest('`n` must be 1 for agents.', 'n');
  const sessionId = agentSession({ header: call.sessionId, user, tools }, ignored);
  const events = withoutUnsupported(
    wishes,
    (left) => deps.agents.run({ agentId, messages, sessionId, principal, tools, wishes: left, signal: abort.signal }),
    { ignored, nameOf: chatName },
  );
  const head = completionHead(body.model, deps.clock.now());
  // The run records its own usage.
  return eventSource({ choices: [events], head, messages, record: () => {} }, call, deps);
}

async function direct(call: Call, deps: ChatDeps): Promise<Source> {
  const { body, abort, principal } = call;
  const { signal } = abort;
  const route = await routeOf(body.model, signal, deps);
  const { provider, model, key } = route;
  const record = (usage: Usage): void => deps.record?.({ at: deps.clock.now(), provider: provider.id, model: key, principal, usage });
  const head = completionHead(body.model, deps.clock.now());
  if (!canForward(provider)) {
    const { messages, choices } = translated(call, route, deps);
    return eventSource({ choices, head, messages, record }, call, deps);
  }
  const addUsage = body.stream === true && body.stream_options?.include_usage !== true;
  const { exchange } = deps;
  const to = exchange && {
    exchange,
    own: call.text === undefined ? undefined : { body, text: call.text },
    // A key may have limits, which are checked for each request.
    stands: !principal.startsWith('key:'),
    call: { id: crypto.randomUUID(), provider: provider.id, model: key, principal, inputTokens: inputOf(body, key) },
  };
  const forwarded = await provider.forward({ ...body, model }, signal, { addUsage, to });
  const counted = (told: Usage | undefined, chars: number): Usage => {
    const usage = told ?? guessed(inputOf(body, key), chars);
    record(usage);
    return usage;
  };
  const passing = { provider: provider.name, forwarded, record: counted };
  const { past } = forwarded;
  return {
    ...(past && { spliced: (caller) => splicedResponse(bodyOf(restOf(past, deps.explain), caller)) }),
    stream: () => passStream(passing, { choices: body.n ?? 1, stripUsage: addUsage, signal, explain: deps.explain }),
    whole: () => passWhole(passing, head).catch((error: unknown) => Promise.reject(forwarded.told(error))),
  };
}

/** Whether the bridge has the same bytes: a byte order mark is not part of the text. */
const isKept = (text: string, size: number): boolean => size <= KEPT_BODY && new TextEncoder().encode(text).byteLength === size;

/** Only an estimate: every call includes it, but few need it, as most providers report usage. */
const inputOf = (body: Envelope, model: string): number => estimateFor(JSON.stringify(body.messages), familyOf(model));

/** Text to send after an answer that the bridge passed on: empty if it was complete. */
async function* restOf({ failed }: PastHost, explain: (error: unknown) => HttpError): AsyncGenerator<string> {
  const error = await failed;
  if (error !== undefined) yield writeSse(JSON.stringify(explain(error).body())) + DONE;
}
