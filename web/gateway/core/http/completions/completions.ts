import { SSE_HEADERS } from '#shared/http/sse.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { estimateFor } from '#shared/tokens/estimate.ts';
import { familyOf } from '#shared/tokens/family.ts';
import { guessed } from '../../providers/estimate.ts';
import type { ModelEvent, ModelMessage } from '../../providers/provider.ts';
import type { Route } from '../../providers/providers.ts';
import { canRelay, type Relayed } from '../../providers/relaying.ts';
import { readJson } from '../body.ts';
import { bodyOf, type Caller, forCaller, streamed } from '../caller.ts';
import { readEnvelope, readKnown } from '../chat-request.ts';
import type { ChatDeps } from '../chat.ts';
import { badRequest, chatName } from '../errors.ts';
import { IgnoredFields, withoutUnsupported } from '../ignored-fields.ts';
import { lacksEndpoint } from '../media/routes.ts';
import { isEventStream, passEvents, readJsonAnswer, readMediaUsage } from '../media/relayed.ts';
import { parse } from '../parse.ts';
import { agentOf, agentSession, headerSession, routeOf } from '../target.ts';
import { translated } from '../translated.ts';
import { buildCompletion, streamCompletion, type TextSource } from './output.ts';
import { type CompletionRequest, completionRequest } from './request.ts';

/** Maximum number of choices of one request, which chat models generate in parallel. */
const MAX_CHOICES = 8;

interface Call {
  body: CompletionRequest;
  principal: string;
  caller: Caller;
  ignored: IgnoredFields;
  sessionHeader: string | undefined;
}

/**
 * `POST /v1/completions`. Servers of OpenAI's format that have the endpoint receive the request unchanged; for other models, and for
 * agents, the prompt becomes a chat message. Throws errors that `toHttpError` explains.
 */
export function answerCompletion(request: Request, principal: string, deps: ChatDeps): Promise<Response> {
  return forCaller(request, async (caller) => {
    const body = parse(completionRequest, await readJson(request));
    const call: Call = { body, principal, caller, ignored: new IgnoredFields(), sessionHeader: headerSession(request) };
    const agentId = agentOf(body.model, deps);
    if (agentId !== undefined) return answerChat(call, agentSource(call, agentId, deps), deps);
    const route = await routeOf(body.model, caller.abort.signal, deps);
    const relayed = await relay(call, route);
    return relayed ? passOn(call, route, relayed, deps) : answerChat(call, modelSource(call, route, deps), deps);
  });
}

/** Undefined if the server lacks the endpoint, or does not support it for this model. */
async function relay({ body, caller }: Call, { provider, model }: Route): Promise<Relayed | undefined> {
  if (!canRelay(provider)) return undefined;
  try {
    return await provider.relay('/completions', { ...body, model }, caller.abort.signal, { streamed: body.stream === true });
  } catch (error) {
    if (lacksEndpoint(error)) return undefined;
    throw error;
  }
}

async function passOn({ body, principal, caller }: Call, { provider, key }: Route, relayed: Relayed, deps: ChatDeps): Promise<Response> {
  const record = (told: Usage | undefined, text: string): void =>
    deps.record?.({
      ...{ at: deps.clock.now(), provider: provider.id, model: key, principal },
      usage: told ?? guessed(estimateFor(JSON.stringify(body.prompt), familyOf(key)), text.length),
    });
  if (isEventStream(relayed)) {
    const { signal } = caller.abort;
    const events = passEvents(relayed, { provider: provider.name, record, explain: deps.explain, signal, textOf: toText, done: true });
    return new Response(bodyOf(events, caller, await events.next()), { headers: SSE_HEADERS });
  }
  const { text, value } = await readJsonAnswer(provider.name, relayed);
  caller.settled();
  record(readMediaUsage(value), toText(value));
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}

const toText = (answer: object): string =>
  'choices' in answer && Array.isArray(answer.choices)
    ? answer.choices.map((choice: unknown) => String((choice as { text?: unknown } | null)?.text ?? '')).join('')
    : '';

async function answerChat({ body, caller, ignored }: Call, source: TextSource, { explain, note }: ChatDeps): Promise<Response> {
  const { signal } = caller.abort;
  if (body.stream) {
    const withUsage = body.stream_options?.include_usage === true;
    return ignored.report(await streamed(streamCompletion(source, { withUsage, signal, explain }), caller), note);
  }
  const whole = await buildCompletion(source);
  caller.settled();
  return ignored.report(Response.json(whole), note);
}

/** The prompts as texts. Throws a 400 for options that only OpenAI's own endpoint supports. */
function readPrompts({ body, ignored }: Call): string[] {
  const { prompt, suffix, logprobs, best_of: best, max_tokens: most, n } = body;
  const prompts = typeof prompt === 'string' ? [prompt] : prompt;
  const texts = prompts.filter((each) => typeof each === 'string');
  if (texts.length < prompts.length) throw badRequest('`prompt` must be text for this model or agent, not tokens.', 'prompt');
  if (texts.some((text) => text === '')) throw badRequest('`prompt` has no text.', 'prompt');
  if (suffix) throw badRequest('`suffix` is not supported by this model or agent.', 'suffix');
  if (best != null && best > (n ?? 1)) throw badRequest('`best_of` above `n` is not supported by this model or agent.', 'best_of');
  if (most === 0) throw badRequest('`max_tokens` must be at least 1 for this model or agent.', 'max_tokens');
  if (logprobs != null) ignored.add('logprobs');
  if (texts.length * (n ?? 1) > MAX_CHOICES)
    throw badRequest(
      `Prompts times \`n\` must be at most ${MAX_CHOICES} for this model or agent.`,
      typeof prompt === 'string' ? 'n' : 'prompt',
    );
  return texts;
}

/** Converts a prompt to a chat request. */
function toChat({ body }: Call, prompt: string): ReturnType<typeof readEnvelope> {
  const { prompt: _prompt, suffix: _suffix, echo: _echo, logprobs: _logprobs, best_of: _best, ...rest } = body;
  return readEnvelope({ ...rest, messages: [{ role: 'user', content: prompt }] });
}

const toHead = ({ body }: Call, { clock }: ChatDeps): TextSource['head'] => ({
  id: `cmpl-${crypto.randomUUID().replaceAll('-', '')}`,
  created: Math.floor(clock.now() / 1000),
  model: body.model,
});

function modelSource(call: Call, route: Route, deps: ChatDeps): TextSource {
  const { body, principal, caller, ignored } = call;
  const prompts = readPrompts(call);
  const each = prompts.map((prompt) => translated({ body: toChat(call, prompt), principal, abort: caller.abort, ignored }, route, deps));
  return {
    choices: each.flatMap(({ choices }) => choices),
    messages: each.flatMap(({ choices, messages }) => choices.map(() => messages)),
    echoed: prompts.flatMap((prompt) => Array.from({ length: body.n ?? 1 }, () => (body.echo ? prompt : ''))),
    head: toHead(call, deps),
    record: (usage) => deps.record?.({ at: deps.clock.now(), provider: route.provider.id, model: route.key, principal, usage }),
  };
}

function agentSource(call: Call, agentId: string, deps: ChatDeps): TextSource {
  const { body, principal, caller, ignored } = call;
  const prompts = readPrompts(call);
  const [prompt = '', ...others] = prompts;
  if (others.length > 0) throw badRequest('`prompt` must be one text for agents.', 'prompt');
  if ((body.n ?? 1) > 1) throw badRequest('`n` must be 1 for agents.', 'n');
  const { messages, wishes, user } = readKnown(toChat(call, prompt), ignored);
  const sessionId = agentSession({ header: call.sessionHeader, user, tools: [] }, ignored);
  const run = (left: typeof wishes): AsyncIterable<ModelEvent> =>
    deps.agents.run({ agentId, messages, sessionId, principal, wishes: left, signal: caller.abort.signal });
  const asked: readonly ModelMessage[] = messages;
  return {
    choices: [withoutUnsupported(wishes, run, { ignored, nameOf: chatName })],
    messages: [asked],
    echoed: [body.echo ? prompt : ''],
    head: toHead(call, deps),
    // The run records its usage.
    record: () => {},
  };
}
