import { RpcError } from '#shared/rpc/errors.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { type Kept, type ModelEvent, type ModelMessage, type ModelRequest, Unsupported, type Wishes } from '../../providers/provider.ts';
import type { Route } from '../../providers/providers.ts';
import { canForward } from '../../providers/forwarding.ts';
import { countedStream } from '../../providers/counted-stream.ts';
import { countMessage, estimateUsage } from '../../providers/estimate.ts';
import { retriedStream } from '../../providers/retry.ts';
import { readJson } from '../body.ts';
import { forCaller, streamed } from '../caller.ts';
import { type Conversations, toEntries } from '../conversations/conversations.ts';
import type { HttpDeps } from '../deps.ts';
import { badRequest, HttpError } from '../errors.ts';
import { withUploadedFiles } from '../files/file-references.ts';
import type { ApiFiles } from '../files/files.ts';
import { IgnoredFields, withoutUnsupported } from '../ignored-fields.ts';
import { agentOf, agentSession, headerSession, routeOf } from '../target.ts';
import { parse } from '../parse.ts';
import type { Thoughts } from '../thoughts.ts';
import { BackgroundResponses, BackgroundRun, isUnfinished } from './background.ts';
import { Answer, itemId, type Making, responseOf, usageObject } from './answer.ts';
import { COMPACTION_PROMPT, isKeptWhole, toCompactionItem } from './compaction-item.ts';
import { type Entry, readInput, toMessages } from './input.ts';
import { pageOf, readPage } from './input-items.ts';
import { KeptResponses, newResponseId } from './kept.ts';
import type { SocketTurn } from './local-responses.ts';
import type { ResponseEvent } from './output.ts';
import type { Item, ResponseRecord } from './record.ts';
import { readRequest, type ResponseRequest } from './request.ts';
import { truncated } from './truncate.ts';

/** Parameter names in the Responses API. */
const NAMES: Partial<Record<keyof ModelRequest, string>> = {
  messages: 'input',
  maxTokens: 'max_output_tokens',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  responseFormat: 'text.format',
  topP: 'top_p',
  reasoningEffort: 'reasoning.effort',
};

const nameOf = (field: keyof ModelRequest): string => NAMES[field] ?? field;

type ResponsesDeps = HttpDeps & { thoughts: Thoughts; uploads: () => Promise<ApiFiles>; chats: Conversations };

interface Call {
  asked: ResponseRequest;
  messages: ModelMessage[];
  principal: string;
  sessionId: string | undefined;
  signal: AbortSignal;
  ignored: IgnoredFields;
}

/** Source of the answer, and where to record the usage. */
type Source = Pick<Making, 'events' | 'messages' | 'record'>;

/** `/v1/responses`, compatible with OpenAI's Responses API. All methods throw errors that `toHttpError` explains. */
export class Responses {
  readonly #deps: ResponsesDeps;
  readonly #kept: KeptResponses;
  readonly #background: BackgroundResponses;

  constructor(deps: ResponsesDeps) {
    this.#deps = deps;
    this.#kept = new KeptResponses(deps);
    const { clock, fault, isRevoked = () => Promise.resolve(false) } = deps;
    this.#background = new BackgroundResponses({ kept: this.#kept, clock, fault, isRevoked });
  }

  /** `POST /v1/responses`. `explain` converts errors after the answer has begun. `turn`: if the request came over a WebSocket. */
  create(request: Request, principal: string, explain: (error: unknown) => HttpError, turn?: SocketTurn): Promise<Response> {
    const { clock } = this.#deps;
    return forCaller(request, async (caller) => {
      const ignored = new IgnoredFields();
      const asked = readRequest(await withUploadedFiles(await readJson(request), principal, this.#deps.uploads), ignored);
      const createdAt = clock.now();
      const id = newResponseId(createdAt);
      const agentId = agentOf(asked.model, this.#deps);
      const { earlier, input, messages } = await this.#conversation(asked, id, principal, ignored, turn);
      const run = asked.background ? new BackgroundRun(new AbortController()) : undefined;
      if (run) this.#background.admit();
      const { signal } = run?.abort ?? caller.abort;
      const call: Call = { asked, messages, principal, sessionId: headerSession(request), signal, ignored };
      const about = { id, principal, createdAt, previousId: asked.previousId ?? null, input };
      const answer = new Answer({
        ...(await this.#source(call, agentId, turn?.generate ?? true)),
        ...{ id, createdAt, model: asked.model, seal: asked.seal, tools: asked.tools, echo: { ...asked.echo, store: asked.store } },
        background: asked.background,
        now: () => clock.now(),
        keep: async (made) => {
          const { status } = made.fields;
          if (asked.conversationId !== undefined && status !== 'failed' && status !== 'cancelled')
            await this.#deps.chats.append(asked.conversationId, principal, toEntries(input, made.output, made.kept));
          const record = { ...about, ...given(made) };
          if (run) return this.#background.keep(run, record);
          const isStored = asked.store && (await this.#kept.put(record));
          if (!isStored && status !== 'failed') turn?.earlier.add(earlier, record);
          return isStored;
        },
      });
      if (run) {
        const { output, ...fields } = answer.queued();
        const record = { ...about, output, fields, aliveAt: createdAt };
        if (!(await this.#kept.put(record)))
          throw new HttpError(503, 'api_error', 'The response can’t be made in the background, because it could not be stored.');
        this.#background.start(record, run, answer, explain);
        if (asked.stream) return ignored.report(await streamed(run.read(-1), caller), this.#deps.note);
        caller.settled();
        return ignored.report(Response.json({ ...fields, output }), this.#deps.note);
      }
      if (asked.stream) return ignored.report(await streamed(written(answer, signal, explain), caller), this.#deps.note);
      let last: ResponseEvent | undefined;
      for await (const event of answer.run()) last = event;
      caller.settled();
      return ignored.report(Response.json(last?.['response']), this.#deps.note);
    });
  }

  /** `GET /v1/responses/{id}`. */
  async get(request: Request, id: string, principal: string): Promise<Response> {
    const { stream, after } = readQuery(new URL(request.url).searchParams);
    const found = await this.#kept.get(id, principal);
    if (!found) throw noSuchResponse(id);
    if (stream) {
      const run = this.#background.get(id);
      if (!run)
        throw badRequest(
          '`stream` needs a response with `background: true` that is being made here, or was in the last minutes.',
          'stream',
        );
      const events = run.read(after);
      return forCaller(request, (caller) => streamed(events, caller));
    }
    const record = await this.#background.current(found);
    return Response.json({ ...record.fields, output: record.output, store: true });
  }

  /** `DELETE /v1/responses/{id}`. */
  async remove(id: string, principal: string): Promise<Response> {
    if (!(await this.#kept.remove(id, principal))) throw noSuchResponse(id);
    this.#background.remove(id);
    return Response.json({ id, object: 'response', deleted: true });
  }

  /** `GET /v1/responses/{id}/input_items`: all input items, including those of the previous responses. */
  async inputItems(request: Request, id: string, principal: string): Promise<Response> {
    const page = readPage(new URL(request.url).searchParams);
    const record = await this.#kept.get(id, principal);
    if (!record) throw noSuchResponse(id);
    const before = record.previousId === null ? [] : await this.#kept.conversation(record.previousId, principal);
    if (!before) throw noSuchResponse(record.previousId ?? '');
    return Response.json(pageOf([...before.flatMap(({ input, output }) => [...input, ...output]), ...record.input], page));
  }

  /** `POST /v1/responses/{id}/cancel`: a finished response is returned unchanged. */
  async cancel(id: string, principal: string): Promise<Response> {
    const found = await this.#kept.get(id, principal);
    if (!found) throw noSuchResponse(id);
    if (found.fields['background'] !== true) throw badRequest('Only responses with `background: true` can be cancelled.');
    const record = await this.#background.cancel(found);
    return Response.json({ ...record.fields, output: record.output, store: true });
  }

  /** `POST /v1/responses/input_tokens`: Perch's count of the request, without additions of an agent. */
  inputTokens(request: Request, principal: string): Promise<Response> {
    return forCaller(request, async ({ abort: { signal }, settled }) => {
      const body = await withUploadedFiles(await readJson(request), principal, this.#deps.uploads);
      const ignored = new IgnoredFields();
      const asked = readRequest({ model: 'main', ...body, input: body['input'] ?? '' }, ignored);
      const key = agentOf(asked.model, this.#deps) === undefined ? (await routeOf(asked.model, signal, this.#deps)).key : asked.model;
      const { messages } = await this.#conversation(asked, newResponseId(this.#deps.clock.now()), principal, ignored);
      const { specs } = asked.tools;
      const declared: ModelMessage[] = specs.length > 0 ? [{ role: 'system', content: JSON.stringify(specs) }] : [];
      let tokens = 0;
      for (const message of [...messages, ...declared]) tokens += await countMessage(message, key, signal);
      settled();
      return ignored.report(Response.json({ object: 'response.input_tokens', input_tokens: tokens }), this.#deps.note);
    });
  }

  /** `POST /v1/responses/compact`: the users' messages, and one item with a summary of the rest for the next request. */
  compact(request: Request, principal: string): Promise<Response> {
    return forCaller(request, async ({ abort: { signal }, settled }) => {
      const ignored = new IgnoredFields();
      const body = await withUploadedFiles(await readJson(request), principal, this.#deps.uploads);
      const asked = readRequest({ ...body, tools: [], tool_choice: undefined }, ignored);
      const createdAt = this.#deps.clock.now();
      const id = newResponseId(createdAt);
      const { items, messages } = await this.#conversation(asked, id, principal, ignored);
      const call: Call = { asked, messages: [...messages, COMPACTION_PROMPT], principal, sessionId: undefined, signal, ignored };
      const agentId = agentOf(asked.model, this.#deps);
      const source = await this.#source(call, agentId, true);
      let summary = '';
      let usage: Usage | undefined;
      for await (const event of source.events) {
        if (event.type === 'text') summary += event.text;
        else if (event.type === 'usage') usage = event.usage;
      }
      usage ??= estimateUsage(call.messages, summary, asked.model);
      source.record(usage);
      settled();
      const output = [...items.filter(isKeptWhole), toCompactionItem(itemId(id, 'cmp', 0), summary)];
      const created_at = Math.floor(createdAt / 1000);
      return ignored.report(
        Response.json({ id, object: 'response.compaction', created_at, output, usage: usageObject(usage, 0) }),
        this.#deps.note,
      );
    });
  }

  /** The new items, and all items of the conversation including previous responses. */
  async #conversation(
    asked: ResponseRequest,
    id: string,
    principal: string,
    ignored: IgnoredFields,
    turn?: SocketTurn,
  ): Promise<{ earlier: ResponseRecord[]; input: Item[]; items: Item[]; messages: ModelMessage[] }> {
    const { previousId } = asked;
    const earlier =
      previousId === undefined ? [] : (turn?.earlier.find(previousId) ?? (await this.#kept.conversation(previousId, principal)));
    if (!earlier) {
      const message = `The response "${previousId}" in \`previous_response_id\`, or one before it, was not found.`;
      throw new HttpError(400, 'invalid_request_error', message, { param: 'previous_response_id', code: 'previous_response_not_found' });
    }
    for (const record of earlier)
      if (isUnfinished(await this.#background.current(record)))
        throw badRequest(`The response "${record.id}" is not finished yet.`, 'previous_response_id');
    // Each response is read and indexed once, however many items refer to it.
    const read = new Map(earlier.map((record) => [record.id, Promise.resolve(itemsOf(record))]));
    const find = async (wanted: string): Promise<Item | undefined> => {
      const from = responseOf(wanted) ?? '';
      const reading = read.get(from) ?? this.#kept.get(from, principal).then(itemsOf);
      read.set(from, reading);
      return (await reading).get(wanted);
    };
    const input = await readInput(asked.input, (prefix, index) => itemId(id, prefix, `i${index}`), find, ignored);
    const before = earlier.flatMap((record): Entry[] => {
      const called = record.output.findLast(({ type }) => type === 'function_call' || type === 'custom_tool_call');
      const param = 'previous_response_id';
      return [...record.input, ...record.output].map((item) => ({ item, param, kept: item === called ? record.kept : undefined }));
    });
    if (asked.conversationId !== undefined) {
      const { entries } = await this.#deps.chats.existing(asked.conversationId, principal);
      before.push(...entries.map((entry): Entry => ({ ...entry, param: 'conversation' })));
    }
    refuseTwice(input, new Set(before.map(({ item }) => item.id)));
    const entries = [...before, ...input.map((item, index): Entry => ({ item, param: `input[${index}]` }))];
    const messages = toMessages(entries, turn?.generate);
    // The instructions of previous responses are not kept.
    const items = [...before.map(({ item }) => item), ...input];
    return {
      earlier,
      input,
      items,
      messages: asked.instructions ? [{ role: 'system', content: asked.instructions }, ...messages] : messages,
    };
  }

  /** `generate`: false leaves the model out, and the response has no output. */
  async #source(call: Call, agentId: string | undefined, generate: boolean): Promise<Source> {
    if (generate) return agentId === undefined ? this.#direct(call) : this.#agent(call, agentId);
    if (agentId === undefined) await routeOf(call.asked.model, call.signal, this.#deps);
    return { events: nothing(), messages: call.messages, record: () => {} };
  }

  #agent({ asked, messages, principal, sessionId: header, signal, ignored }: Call, agentId: string): Source {
    if (asked.truncate) ignored.add('truncation');
    for (const { name } of asked.passed.values()) if (name !== undefined) ignored.add(name);
    const sessionId = agentSession({ header, user: asked.user, tools: asked.tools.specs }, ignored);
    const run = (wishes: Wishes): AsyncIterable<ModelEvent> =>
      this.#deps.agents.run({ agentId, messages, sessionId, principal, tools: asked.tools.specs, wishes, signal });
    // The run records its own usage.
    return { events: named(withoutUnsupported(asked.wishes, run, { ignored, nameOf })), messages, record: () => {} };
  }

  async #direct({ asked, messages: all, principal, signal, ignored }: Call): Promise<Source> {
    const { clock, record, thoughts } = this.#deps;
    const route = await routeOf(asked.model, signal, this.#deps);
    const { provider, model, key } = route;
    const messages = asked.truncate ? await this.#fitting(all, route, asked.wishes.maxTokens ?? 0, signal) : all;
    const leaveOut = (field: string): void => {
      const name = asked.passed.get(field)?.name;
      if (name !== undefined) ignored.add(name);
    };
    const takes = canForward(provider);
    if (!takes) for (const field of asked.passed.keys()) leaveOut(field);
    const request: ModelRequest = {
      ...(takes ? { passed: Object.fromEntries([...asked.passed].map(([field, { value }]) => [field, value])) } : {}),
      onRefusedField: leaveOut,
      model,
      messages: thoughts.restored(principal, messages),
      tools: asked.tools.specs,
      exact: true,
      cacheKey: asked.cacheKey,
    };
    const events = countedStream(
      withoutUnsupported(
        asked.wishes,
        (wishes) => retriedStream(() => provider.stream({ ...request, ...wishes }, signal), { clock, signal }),
        { ignored, nameOf },
      ),
      request.messages,
      key,
    );
    return {
      events: named(thoughts.noting(principal, events)),
      messages,
      record: (usage: Usage) => record?.({ at: clock.now(), provider: provider.id, model: key, principal, usage }),
    };
  }

  async #fitting(messages: ModelMessage[], { key }: Route, reserve: number, signal: AbortSignal): Promise<ModelMessage[]> {
    const window = (await this.#deps.providers.list({ signal })).find((model) => model.key === key)?.context_window;
    return window ? truncated(messages, window - reserve, key) : messages;
  }
}

const query = z.object({
  stream: z.enum(['true', 'false']).optional(),
  starting_after: z
    .string()
    .regex(/^\d{1,9}$/, 'must be the sequence number of an event')
    .optional(),
});
/** Query parameters with no effect here: a response includes this data always, or never. */
const HARMLESS_QUERY = /^(?:include(?:\[\d*\])?|include_obfuscation)$/;

function readQuery(params: URLSearchParams): { stream: boolean; after: number } {
  for (const name of params.keys())
    if (!(name in query.shape) && !HARMLESS_QUERY.test(name)) throw badRequest(`\`${name}\` is not supported.`, name);
  const { stream, starting_after } = parse(query, Object.fromEntries(params));
  return { stream: stream === 'true', after: starting_after === undefined ? -1 : Number(starting_after) };
}

/** Items by id. */
const itemsOf = (record: ResponseRecord | undefined): ReadonlyMap<string, Item> =>
  new Map([...(record?.input ?? []), ...(record?.output ?? [])].map((item) => [item.id, item]));

/** Throws a 400 for a reference to an item that is already included: a few references could multiply one item endlessly. */
function refuseTwice(input: readonly Item[], ids: Set<string>): void {
  for (const [index, { id }] of input.entries()) {
    if (ids.has(id)) throw badRequest(`Duplicate item id "${id}" (\`input[${index}].id\`).`, `input[${index}].id`);
    ids.add(id);
  }
}

function given<T extends { kept: Kept | undefined }>({ kept, ...made }: T): Omit<T, 'kept'> & { kept?: Kept } {
  return { ...made, ...(kept ? { kept } : {}) };
}

/** The events of a model that is not asked. */
async function* nothing(): AsyncGenerator<ModelEvent> {
  yield { type: 'usage', usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } };
  yield { type: 'finish', reason: 'stop' };
}

/** The events; unsupported options of a model or an agent are reported by their name in this API. */
async function* named(events: AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent> {
  try {
    yield* events;
  } catch (error) {
    const unsupported = error instanceof RpcError ? error.cause : error;
    if (!(unsupported instanceof Unsupported)) throw error;
    const param = nameOf(unsupported.field);
    throw badRequest(`Invalid \`${param}\`: ${unsupported.message}`, param);
  }
}

/** The events as sent. Throws only before the first of them; a later failure is the last event, unless the client has disconnected. */
async function* written(answer: Answer, signal: AbortSignal, explain: (error: unknown) => HttpError): AsyncGenerator<string> {
  let number = 0;
  const write = ({ type, ...rest }: ResponseEvent): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...rest })}\n\n`;
  try {
    for await (const event of answer.run()) yield write(event);
  } catch (error) {
    if (number === 0 || signal.aborted) throw error;
    yield write(await answer.fail(explain(error)));
  }
}

const noSuchResponse = (id: string): HttpError => new HttpError(404, 'not_found', `No response with id "${id.slice(0, 200)}".`);
