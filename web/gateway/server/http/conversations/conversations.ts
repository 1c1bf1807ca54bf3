import { createListSchema, z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { ProviderState } from '../../../storage/records/provider-state.ts';
import type { Collection } from '../../../storage/vault-interface.ts';
import { readJson } from '../request-body.ts';
import { badRequest, HttpError } from '../http-error.ts';
import { IgnoredFields } from '../ignored-fields.ts';
import { createTimedId, isVisibleTo } from '../ids.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import { toItemId } from '../responses/response-builder.ts';
import { type FindItem, readInput } from '../responses/responses-input.ts';
import { paginateItems, readPage } from '../responses/input-items.ts';
import type { Item } from '../../../storage/records/response-record.ts';
import { metadataSchema } from '../responses/responses-request.ts';
import type { ConversationEntry, ConversationRecord } from '../../../storage/records/conversation-record.ts';

/** Limits of conversations: number, and characters (as JSON) and items of each. */
const CONVERSATION_LIMITS = { count: 1000, chars: 8 * 1024 * 1024, items: 10_000 };
/** Maximum number of items in one request. */
const MAX_ITEMS = 20;

interface ConversationsDeps {
  conversations: Collection<ConversationRecord>;
  clock: Pick<Clock, 'now'>;
}

export const conversationRequest = z.looseObject({ items: createListSchema(z.unknown()).nullish(), metadata: metadataSchema.nullish() });
export const itemsRequest = z.looseObject({ items: createListSchema(z.unknown(), 1) });
export const conversationUpdate = z.looseObject({ metadata: metadataSchema.nullable() });

/** References work only for items of stored responses; items of a conversation are already included. */
const findNothing: FindItem = () => Promise.resolve(undefined);

/** `/v1/conversations`: items that responses continue by the conversation's id. All methods throw errors that `toHttpError` explains. */
export class Conversations {
  readonly #deps: ConversationsDeps;

  constructor(deps: ConversationsDeps) {
    this.#deps = deps;
  }

  /** `POST /v1/conversations`. */
  async create(request: Request, principal: string): Promise<Response> {
    const body = parseHttpParams(conversationRequest, await readOptionalJson(request));
    const now = this.#deps.clock.now();
    if ((await this.#deps.conversations.keys()).length >= CONVERSATION_LIMITS.count)
      throw badRequest(`There are ${CONVERSATION_LIMITS.count} conversations already. Delete some first.`);
    const entries = await readEntries(body.items ?? [], now);
    const record: ConversationRecord = {
      ...{ id: createTimedId('conv_', now), principal, createdAt: now, metadata: body.metadata ?? {}, entries },
    };
    checkSize(record);
    await this.#deps.conversations.put(record);
    return Response.json(toObject(record));
  }

  /** `GET /v1/conversations/{id}`. */
  async get(id: string, principal: string): Promise<Response> {
    return Response.json(toObject(await this.getVisible(id, principal)));
  }

  /** `POST /v1/conversations/{id}`: replaces the metadata. */
  async update(request: Request, id: string, principal: string): Promise<Response> {
    const body = parseHttpParams(conversationUpdate, await readJson(request));
    return Response.json(toObject(await this.#update(id, principal, (record) => ({ ...record, metadata: body.metadata ?? {} }))));
  }

  /** `DELETE /v1/conversations/{id}`. */
  async remove(id: string, principal: string): Promise<Response> {
    await this.getVisible(id, principal);
    await this.#deps.conversations.remove(id);
    return Response.json({ id, object: 'conversation.deleted', deleted: true });
  }

  /** `GET /v1/conversations/{id}/items`. */
  async items(request: Request, id: string, principal: string): Promise<Response> {
    const page = readPage(new URL(request.url).searchParams);
    return Response.json(paginateItems(toItems(await this.getVisible(id, principal)), page));
  }

  /** `POST /v1/conversations/{id}/items`. */
  async addItems(request: Request, id: string, principal: string): Promise<Response> {
    const body = parseHttpParams(itemsRequest, await readJson(request));
    const entries = await readEntries(body.items, this.#deps.clock.now());
    await this.append(id, principal, entries);
    const data = entries.map(({ item }) => item);
    return Response.json({ object: 'list', data, first_id: data[0]?.id ?? '', last_id: data.at(-1)?.id ?? '', has_more: false });
  }

  /** `GET /v1/conversations/{id}/items/{item}`. */
  async item(id: string, itemId: string, principal: string): Promise<Response> {
    const found = toItems(await this.getVisible(id, principal)).find((item) => item.id === itemId);
    if (!found) throw conversationItemNotFound(itemId);
    return Response.json(found);
  }

  /** `DELETE /v1/conversations/{id}/items/{item}`. */
  async removeItem(id: string, itemId: string, principal: string): Promise<Response> {
    const updated = await this.#update(id, principal, (record) => {
      const entries = record.entries.filter(({ item }) => item.id !== itemId);
      if (entries.length === record.entries.length) throw conversationItemNotFound(itemId);
      return { ...record, entries };
    });
    return Response.json(toObject(updated));
  }

  /** Throws a 404 if it does not exist or belongs to another key. */
  async getVisible(id: string, principal: string): Promise<ConversationRecord> {
    const record = await this.#deps.conversations.get(id);
    if (!record || !isVisibleTo(principal, record)) throw conversationNotFound(id);
    return record;
  }

  /** Adds items at the end. Throws a 400 if the conversation gets too long. */
  async append(id: string, principal: string, entries: readonly ConversationEntry[]): Promise<void> {
    await this.#update(id, principal, (record) => ({ ...record, entries: [...record.entries, ...entries] }));
  }

  async #update(id: string, principal: string, toChanged: (record: ConversationRecord) => ConversationRecord): Promise<ConversationRecord> {
    await this.getVisible(id, principal);
    // Rethrown after the transaction, which would otherwise report it as a storage failure.
    let rejection: unknown;
    const updated = await this.#deps.conversations.update(id, (before) => {
      if (!before) return undefined;
      try {
        const after = toChanged(before);
        checkSize(after);
        return after;
      } catch (error) {
        rejection = error;
        return undefined;
      }
    });
    if (rejection !== undefined) throw rejection;
    if (!updated) throw conversationNotFound(id);
    return updated;
  }
}

/** Entries of a response's items; data that the provider requires back is stored with the last call. */
export function toEntries(input: readonly Item[], output: readonly Item[], kept: ProviderState | undefined): ConversationEntry[] {
  const lastCall = output.findLast(({ type }) => type === 'function_call' || type === 'custom_tool_call');
  return [...input, ...output].map((item) => ({ item, ...(kept && item === lastCall ? { kept } : {}) }));
}

async function readEntries(items: readonly unknown[], now: number): Promise<ConversationEntry[]> {
  if (items.length > MAX_ITEMS) throw badRequest(`\`items\` must have at most ${MAX_ITEMS} items.`, 'items');
  const batch = createTimedId('resp_', now);
  const inputItems = await readInput(items, (prefix, index) => toItemId(batch, prefix, `i${index}`), findNothing, new IgnoredFields());
  return inputItems.map((item) => ({ item }));
}

/** A create request needs no body. */
async function readOptionalJson(request: Request): Promise<Record<string, unknown>> {
  return request.body === null || request.headers.get('content-length') === '0' ? {} : readJson(request);
}

function checkSize(record: ConversationRecord): void {
  if (record.entries.length <= CONVERSATION_LIMITS.items && JSON.stringify(record.entries).length <= CONVERSATION_LIMITS.chars) return;
  throw badRequest('The conversation is too long. Create a new one.', 'conversation');
}

const toItems = ({ entries }: ConversationRecord): Item[] => entries.map(({ item }) => item);

const toObject = ({ id, createdAt, metadata }: ConversationRecord): Record<string, unknown> => ({
  ...{ id, object: 'conversation', created_at: Math.floor(createdAt / 1000), metadata },
});

const conversationNotFound = (id: string): HttpError =>
  new HttpError(404, 'not_found', `No conversation with id "${id.slice(0, 200)}".`, { param: 'conversation' });
const conversationItemNotFound = (id: string): HttpError =>
  new HttpError(404, 'not_found', `No item with id "${id.slice(0, 200)}" in the conversation.`);
