import type { Usage } from '#shared/rpc/record-schemas.ts';
import type { GenerationOptions, ModelEvent, ModelMessage } from '../../../providers/provider.ts';
import type { ProviderState } from '../../../storage/records/provider-state.ts';
import { countMessage, estimateUsage } from '../../../providers/estimate-usage.ts';
import { readJson } from '../request-body.ts';
import { runForCaller, toStreamResponse } from '../caller.ts';
import { type Conversations, toEntries } from '../conversations/conversations.ts';
import type { HttpDeps } from '../http-deps.ts';
import { badRequest, HttpError } from '../http-error.ts';
import { withUploadedFiles } from '../files/file-references.ts';
import type { ApiFiles } from '../files/api-files.ts';
import { IgnoredFields, retryWithoutUnsupported } from '../ignored-fields.ts';
import { findAgentId, resolveAgentSession, readSessionHeader, resolveRoute } from '../request-target.ts';
import type { ProviderStateCache } from '../provider-state-cache.ts';
import { BackgroundResponses, BackgroundRun, isUnfinished } from './background-responses.ts';
import { ResponseBuilder, toItemId, toResponseId, toResponseUsage } from './response-builder.ts';
import { COMPACTION_PROMPT, isPreserved, toCompactionItem } from './compaction-item.ts';
import { type ItemEntry, readInput, toMessages } from './responses-input.ts';
import { paginateItems, readPage } from './input-items.ts';
import { ResponseStore, createResponseId } from './response-store.ts';
import type { SocketTurn } from './local-responses.ts';
import type { ResponseEvent } from './output-builder.ts';
import type { Item, ResponseRecord } from '../../../storage/records/response-record.ts';
import { readResponseQuery, readResponseRequest, type ResponseRequest } from './responses-request.ts';
import { createModelSource, nameUnsupported, type ResponseCall, type ResponseSource, toParamName } from './model-source.ts';
import { type SettledSearches, settleSearches } from './response-search.ts';

type ResponsesDeps = HttpDeps & {
  providerStates: ProviderStateCache;
  uploads: () => Promise<ApiFiles>;
  conversationService: Conversations;
};

/** `/v1/responses`, compatible with OpenAI's Responses API. All methods throw errors that `toHttpError` explains. */
export class Responses {
  readonly #deps: ResponsesDeps;
  readonly #store: ResponseStore;
  readonly #background: BackgroundResponses;

  constructor(deps: ResponsesDeps) {
    this.#deps = deps;
    this.#store = new ResponseStore(deps);
    const { clock, fault, isRevoked = () => Promise.resolve(false) } = deps;
    this.#background = new BackgroundResponses({ store: this.#store, clock, fault, isRevoked });
  }

  /** `POST /v1/responses`. `explain` converts errors after the answer has begun. `turn`: if the request came over a WebSocket. */
  create(request: Request, principal: string, explain: (error: unknown) => HttpError, turn?: SocketTurn): Promise<Response> {
    const { clock } = this.#deps;
    return runForCaller(request, async (caller) => {
      const ignored = new IgnoredFields();
      const params = readResponseRequest(await withUploadedFiles(await readJson(request), principal, this.#deps.uploads), ignored);
      const createdAt = clock.now();
      const id = createResponseId(createdAt);
      const agentId = findAgentId(params.model, this.#deps);
      const { previous, input, messages } = await this.#conversation(params, id, principal, ignored, turn);
      const run = params.background ? new BackgroundRun(new AbortController()) : undefined;
      if (run) this.#background.admit();
      const { signal } = run?.abort ?? caller.abort;
      const call: ResponseCall = { asked: params, messages, principal, sessionId: readSessionHeader(request), signal, ignored };
      const recordFields = { id, principal, createdAt, previousId: params.previousId ?? null, input };
      const builder = new ResponseBuilder({
        ...(await this.#source(call, agentId, turn?.generate ?? true)),
        ...{
          id,
          createdAt,
          model: params.model,
          seal: params.seal,
          include: params.include,
          tools: params.tools,
          echo: { ...params.echo, store: params.store },
        },
        background: params.background,
        now: () => clock.now(),
        store: async (result) => {
          const { status } = result.fields;
          if (params.conversationId !== undefined && status !== 'failed' && status !== 'cancelled')
            await this.#deps.conversationService.append(params.conversationId, principal, toEntries(input, result.output, result.kept));
          const record = { ...recordFields, ...omitEmptyState(result) };
          if (run) return this.#background.store(run, record);
          const isStored = params.store && (await this.#store.put(record));
          if (!isStored && status !== 'failed') turn?.earlier.add(previous, record);
          return isStored;
        },
      });
      if (run) {
        const { output, ...fields } = builder.toQueued();
        const record = { ...recordFields, output, fields, aliveAt: createdAt };
        if (!(await this.#store.put(record)))
          throw new HttpError(503, 'api_error', 'The response can’t be made in the background, because it could not be stored.');
        this.#background.start(record, run, builder, explain);
        if (params.stream) return ignored.report(await toStreamResponse(run.read(-1), caller), this.#deps.note);
        caller.release();
        return ignored.report(Response.json({ ...fields, output }), this.#deps.note);
      }
      if (params.stream) return ignored.report(await toStreamResponse(writeEvents(builder, signal, explain), caller), this.#deps.note);
      let last: ResponseEvent | undefined;
      for await (const event of builder.run()) last = event;
      caller.release();
      return ignored.report(Response.json(last?.['response']), this.#deps.note);
    });
  }

  /** `GET /v1/responses/{id}`. */
  async get(request: Request, id: string, principal: string): Promise<Response> {
    const { stream, after } = readResponseQuery(new URL(request.url).searchParams);
    const found = await this.#store.get(id, principal);
    if (!found) throw responseNotFound(id);
    if (stream) {
      const run = this.#background.get(id);
      if (!run)
        throw badRequest(
          '`stream` needs a response with `background: true` that is being made here, or was in the last minutes.',
          'stream',
        );
      const events = run.read(after);
      return runForCaller(request, (caller) => toStreamResponse(events, caller));
    }
    const record = await this.#background.refresh(found);
    return Response.json({ ...record.fields, output: record.output, store: true });
  }

  /** `DELETE /v1/responses/{id}`. */
  async remove(id: string, principal: string): Promise<Response> {
    if (!(await this.#store.remove(id, principal))) throw responseNotFound(id);
    this.#background.remove(id);
    return Response.json({ id, object: 'response', deleted: true });
  }

  /** `GET /v1/responses/{id}/input_items`: all input items, including those of the previous responses. */
  async inputItems(request: Request, id: string, principal: string): Promise<Response> {
    const page = readPage(new URL(request.url).searchParams);
    const record = await this.#store.get(id, principal);
    if (!record) throw responseNotFound(id);
    const before = record.previousId === null ? [] : await this.#store.getConversation(record.previousId, principal);
    if (!before) throw responseNotFound(record.previousId ?? '');
    return Response.json(paginateItems([...before.flatMap(({ input, output }) => [...input, ...output]), ...record.input], page));
  }

  /** `POST /v1/responses/{id}/cancel`: a finished response is returned unchanged. */
  async cancel(id: string, principal: string): Promise<Response> {
    const found = await this.#store.get(id, principal);
    if (!found) throw responseNotFound(id);
    if (found.fields['background'] !== true) throw badRequest('Only responses with `background: true` can be cancelled.');
    const record = await this.#background.cancel(found);
    return Response.json({ ...record.fields, output: record.output, store: true });
  }

  /** `POST /v1/responses/input_tokens`: Perch's count of the request, without additions of an agent. */
  inputTokens(request: Request, principal: string): Promise<Response> {
    return runForCaller(request, async ({ abort: { signal }, release }) => {
      const body = await withUploadedFiles(await readJson(request), principal, this.#deps.uploads);
      const ignored = new IgnoredFields();
      const params = readResponseRequest({ model: 'main', ...body, input: body['input'] ?? '' }, ignored);
      const key =
        findAgentId(params.model, this.#deps) === undefined ? (await resolveRoute(params.model, signal, this.#deps)).key : params.model;
      const { messages } = await this.#conversation(params, createResponseId(this.#deps.clock.now()), principal, ignored);
      params.tools.ignoreHosted(ignored);
      const { specs } = params.tools;
      const toolMessages: ModelMessage[] = specs.length > 0 ? [{ role: 'system', content: JSON.stringify(specs) }] : [];
      let tokens = 0;
      for (const message of [...messages, ...toolMessages]) tokens += await countMessage(message, key, signal);
      release();
      return ignored.report(Response.json({ object: 'response.input_tokens', input_tokens: tokens }), this.#deps.note);
    });
  }

  /** `POST /v1/responses/compact`: the users' messages, and one item with a summary of the rest for the next request. */
  compact(request: Request, principal: string): Promise<Response> {
    return runForCaller(request, async ({ abort: { signal }, release }) => {
      const ignored = new IgnoredFields();
      const body = await withUploadedFiles(await readJson(request), principal, this.#deps.uploads);
      const params = readResponseRequest({ ...body, tools: [], tool_choice: undefined }, ignored);
      const createdAt = this.#deps.clock.now();
      const id = createResponseId(createdAt);
      const { items, messages } = await this.#conversation(params, id, principal, ignored);
      const call: ResponseCall = {
        asked: params,
        messages: [...messages, COMPACTION_PROMPT],
        principal,
        sessionId: undefined,
        signal,
        ignored,
      };
      const agentId = findAgentId(params.model, this.#deps);
      const source = await this.#source(call, agentId, true);
      let summary = '';
      let usage: Usage | undefined;
      for await (const event of source.events) {
        if (event.type === 'text') summary += event.text;
        else if (event.type === 'usage') usage = event.usage;
      }
      usage ??= estimateUsage(call.messages, summary, params.model);
      source.record(usage);
      release();
      const output = [...items.filter(isPreserved), toCompactionItem(toItemId(id, 'cmp', 0), summary)];
      const created_at = Math.floor(createdAt / 1000);
      return ignored.report(
        Response.json({ id, object: 'response.compaction', created_at, output, usage: toResponseUsage(usage, 0) }),
        this.#deps.note,
      );
    });
  }

  /** The new items, and all items of the conversation including previous responses. */
  async #conversation(
    params: ResponseRequest,
    id: string,
    principal: string,
    ignored: IgnoredFields,
    turn?: SocketTurn,
  ): Promise<{ previous: ResponseRecord[]; input: Item[]; items: Item[]; messages: ModelMessage[] }> {
    const { previousId } = params;
    const earlier =
      previousId === undefined ? [] : (turn?.earlier.find(previousId) ?? (await this.#store.getConversation(previousId, principal)));
    if (!earlier) {
      const message = `The response "${previousId}" in \`previous_response_id\`, or one before it, was not found.`;
      throw new HttpError(400, 'invalid_request_error', message, { param: 'previous_response_id', code: 'previous_response_not_found' });
    }
    for (const record of earlier)
      if (isUnfinished(await this.#background.refresh(record)))
        throw badRequest(`The response "${record.id}" is not finished yet.`, 'previous_response_id');
    // Each response is read and indexed once, however many items refer to it.
    const read = new Map(earlier.map((record) => [record.id, Promise.resolve(toItemMap(record))]));
    const find = async (itemId: string): Promise<Item | undefined> => {
      const from = toResponseId(itemId) ?? '';
      const pendingItems = read.get(from) ?? this.#store.get(from, principal).then(toItemMap);
      read.set(from, pendingItems);
      return (await pendingItems).get(itemId);
    };
    const input = await readInput(params.input, (prefix, index) => toItemId(id, prefix, `i${index}`), find, ignored);
    const before = earlier.flatMap((record): ItemEntry[] => {
      const lastCall = record.output.findLast(({ type }) => type === 'function_call' || type === 'custom_tool_call');
      const param = 'previous_response_id';
      return [...record.input, ...record.output].map((item) => ({ item, param, kept: item === lastCall ? record.kept : undefined }));
    });
    if (params.conversationId !== undefined) {
      const { entries } = await this.#deps.conversationService.getVisible(params.conversationId, principal);
      before.push(...entries.map((entry): ItemEntry => ({ ...entry, param: 'conversation' })));
    }
    rejectDuplicates(input, new Set(before.map(({ item }) => item.id)));
    const entries = [...before, ...input.map((item, index): ItemEntry => ({ item, param: `input[${index}]` }))];
    const messages = toMessages(entries, turn?.generate);
    // The instructions of previous responses are not kept.
    const items = [...before.map(({ item }) => item), ...input];
    return {
      previous: earlier,
      input,
      items,
      messages: params.instructions ? [{ role: 'system', content: params.instructions }, ...messages] : messages,
    };
  }

  /** `generate`: false leaves the model out, and the response has no output. */
  async #source(call: ResponseCall, agentId: string | undefined, generate: boolean): Promise<ResponseSource> {
    const { asked, ignored } = call;
    const sessionId =
      agentId === undefined
        ? undefined
        : resolveAgentSession({ header: call.sessionId, user: asked.user, tools: asked.tools.specs }, ignored);
    const settled = await settleSearches(call, { agentId, sessionId }, this.#deps);
    if (generate)
      return agentId === undefined
        ? createModelSource(call, settled, this.#deps)
        : this.#createAgentSource(call, { agentId, sessionId }, settled);
    if (agentId === undefined) await resolveRoute(call.asked.model, call.signal, this.#deps);
    return { events: nothing(), messages: call.messages, record: () => {} };
  }

  #createAgentSource(
    { asked: params, messages, principal, signal, ignored }: ResponseCall,
    { agentId, sessionId }: { agentId: string; sessionId: string | undefined },
    { options, collections }: SettledSearches,
  ): ResponseSource {
    if (params.truncate) ignored.add('truncation');
    for (const { name } of params.passed.values()) if (name !== undefined) ignored.add(name);
    const run = (generationOptions: GenerationOptions): AsyncIterable<ModelEvent> =>
      this.#deps.agents.run({ agentId, messages, sessionId, principal, tools: params.tools.specs, collections, generationOptions, signal });
    // The run records its own usage.
    return {
      events: nameUnsupported(retryWithoutUnsupported(options, run, { ignored, toParamName })),
      messages,
      record: () => {},
    };
  }
}

/** Items by id. */
const toItemMap = (record: ResponseRecord | undefined): ReadonlyMap<string, Item> =>
  new Map([...(record?.input ?? []), ...(record?.output ?? [])].map((item) => [item.id, item]));

/** Throws a 400 for a reference to an item that is already included: a few references could multiply one item endlessly. */
function rejectDuplicates(input: readonly Item[], ids: Set<string>): void {
  for (const [index, { id }] of input.entries()) {
    if (ids.has(id)) throw badRequest(`Duplicate item id "${id}" (\`input[${index}].id\`).`, `input[${index}].id`);
    ids.add(id);
  }
}

function omitEmptyState<T extends { kept: ProviderState | undefined }>({ kept, ...made }: T): Omit<T, 'kept'> & { kept?: ProviderState } {
  return { ...made, ...(kept ? { kept } : {}) };
}

/** The events of a model that is not asked. */
async function* nothing(): AsyncGenerator<ModelEvent> {
  yield { type: 'usage', usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } };
  yield { type: 'finish', reason: 'stop' };
}

/** The events as sent. Throws only before the first of them; a later failure is the last event, unless the client has disconnected. */
async function* writeEvents(builder: ResponseBuilder, signal: AbortSignal, explain: (error: unknown) => HttpError): AsyncGenerator<string> {
  let number = 0;
  const write = ({ type, ...rest }: ResponseEvent): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...rest })}\n\n`;
  try {
    for await (const event of builder.run()) yield write(event);
  } catch (error) {
    if (number === 0 || signal.aborted) throw error;
    yield write(await builder.fail(explain(error)));
  }
}

const responseNotFound = (id: string): HttpError => new HttpError(404, 'not_found', `No response with id "${id.slice(0, 200)}".`);
