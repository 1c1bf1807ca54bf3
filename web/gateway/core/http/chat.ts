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
import { passStream, passWhole } from './forward.ts';
import { type EventSource, streamFromEvents, wholeFromEvents } from './from-events.ts';
import type { HttpDeps } from './deps.ts';
import { IgnoredFields, withoutUnsupported } from './ignored-fields.ts';
import { agentOf, agentSession, headerSession, routeOf } from './target.ts';
import type { Thoughts } from './thoughts.ts';
import { translated } from './translated.ts';

export interface ChatDeps extends HttpDeps {
  thoughts: Thoughts;
  /** The request's ID in the log. */
  requestId: string;
  /** What went wrong with this request, as it is told, and noted in the log under its id. */
  explain(error: unknown): HttpError;
  /** The stream on which the request came, where the bridge can answer it past the host. */
  exchange?: Stream | undefined;
}

interface Call {
  body: Envelope;
  /** As the bridge has it; undefined where that is not known. */
  text: string | undefined;
  principal: string;
  /** Fires when the caller hangs up. */
  abort: AbortController;
  sessionId: string | undefined;
  ignored: IgnoredFields;
}

/** `POST /v1/chat/completions` (interface document 1, section 4.3; decisions, "HTTP"). Throws what `toHttpError` explains. */
export function answerChat(request: Request, principal: string, deps: ChatDeps): Promise<Response> {
  return forCaller(request, async (caller) => {
    const { value, text, size } = await readWritten(request);
    const body = readEnvelope(value);
    const ignored = new IgnoredFields();
    const kept = isKept(text, size) ? text : undefined;
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

/** An answer that has been asked for, in the form that the caller wants. */
interface Source {
  /** Server-sent events; throws only before the first. */
  stream(): AsyncGenerator<string>;
  /** JSON text. */
  whole(): Promise<string>;
  /** Instead of both, where the bridge gives the answer. */
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
  // The run itself records its usage.
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
    // A key may have limits, which are looked at for each request.
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

/** The bridge has those bytes; a mark at their beginning is not in the text. */
const isKept = (text: string, size: number): boolean => size <= KEPT_BODY && new TextEncoder().encode(text).byteLength === size;

/** An estimate, for every call has one on its way and few need it: most providers give figures. */
const inputOf = (body: Envelope, model: string): number => estimateFor(JSON.stringify(body.messages), familyOf(model));

/** What the caller hears behind an answer that was spliced: nothing, where that was whole. */
async function* restOf({ failed }: PastHost, explain: (error: unknown) => HttpError): AsyncGenerator<string> {
  const error = await failed;
  if (error !== undefined) yield writeSse(JSON.stringify(explain(error).body())) + DONE;
}
