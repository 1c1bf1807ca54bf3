import type { ModelEvent } from '../../../providers/provider.ts';
import { toAnnotations } from '../annotations.ts';
import type { FileSearchEvent } from '../search/hosted-file-search.ts';
import type { WebSearchEvent } from '../search/hosted-web-search.ts';
import type {
  CallItem,
  ContentPart,
  CustomCallItem,
  FileSearchCallItem,
  ItemStatus,
  MessageItem,
  OutputItem,
  ReasoningItem,
  SearchCallItem,
} from '../../../storage/records/response-record.ts';

export type SearchEvent = WebSearchEvent | FileSearchEvent;

/** Data that items have only if the request asks for it. */
export interface IncludedData {
  /** The pages that a search of the web has found. */
  sources: boolean;
  /** The passages that a search of collections has found. */
  results: boolean;
}

/** An event of the stream, without its number. */
export type ResponseEvent = { type: string } & Record<string, unknown>;

type MessagePart = Extract<ContentPart, { type: 'output_text' | 'refusal' }>;
type ReasoningPart = ReasoningItem['content'][number];
/** The item being written, and its last part. */
type OpenItem = { item: MessageItem; part: MessagePart } | { item: ReasoningItem; part: ReasoningPart };

/** Builds output items from a model's answer, and reports each step as events of the public API. */
export class OutputBuilder {
  readonly items: OutputItem[] = [];
  readonly #createId: (prefix: string, index: number) => string;
  readonly #include: IncludedData;
  /** Searches under way, by their call. */
  readonly #searches = new Map<
    string,
    { item: SearchCallItem | FileSearchCallItem; position: { item_id: string; output_index: number } }
  >();
  /** The item being written. */
  #open: OpenItem | undefined;
  /** Length of all text so far, in UTF-16 code units. */
  #textLength = 0;

  constructor(createId: (prefix: string, index: number) => string, include: IncludedData) {
    this.#createId = createId;
    this.#include = include;
  }

  addText(delta: string): ResponseEvent[] {
    const events = this.#ensurePart('output_text', () => ({ type: 'output_text', text: '', annotations: [], logprobs: [] }));
    this.#textLength += delta.length;
    return [...events, ...this.#appendDelta(delta, { logprobs: [] })];
  }

  /** Adds the citations of the text being written. */
  addAnnotations(event: Extract<ModelEvent, { type: 'citations' }>): ResponseEvent[] {
    const open = this.#open;
    if (open?.part.type !== 'output_text') return [];
    const { annotations } = open.part;
    return toAnnotations(event, this.#textLength - open.part.text.length).map((annotation) => ({
      type: 'response.output_text.annotation.added',
      ...this.#getPosition(open),
      annotation_index: annotations.push(annotation) - 1,
      annotation,
    }));
  }

  /** A separate part after the message's previous content. */
  addRefusal(delta: string): ResponseEvent[] {
    return [...this.#ensurePart('refusal', () => ({ type: 'refusal', refusal: '' })), ...this.#appendDelta(delta)];
  }

  addReasoning(delta: string): ResponseEvent[] {
    const events: ResponseEvent[] = [];
    if (this.#open?.item.type !== 'reasoning') {
      events.push(...this.close());
      const item: ReasoningItem = { type: 'reasoning', id: this.#nextId('rs'), summary: [], content: [], status: 'in_progress' };
      const part: ReasoningPart = { type: 'reasoning_text', text: '' };
      events.push(this.#begin(item));
      item.content.push(part);
      events.push(this.#beginPart({ item, part }));
    }
    return [...events, ...this.#appendDelta(delta)];
  }

  /** Data that the provider requires back is part of the reasoning before the calls. */
  addEncrypted(encrypted: string): ResponseEvent[] {
    if (this.#open?.item.type === 'reasoning') {
      this.#open.item.encrypted_content = encrypted;
      return [];
    }
    const events = this.close();
    const emptyItem: ReasoningItem = { type: 'reasoning', id: this.#nextId('rs'), summary: [], content: [], status: 'in_progress' };
    const item: ReasoningItem = { ...emptyItem, encrypted_content: encrypted, status: 'completed' };
    const output_index = this.items.push(item) - 1;
    return [
      ...events,
      { type: 'response.output_item.added', output_index, item: emptyItem },
      { type: 'response.output_item.done', output_index, item },
    ];
  }

  addCall(callItem: Omit<CallItem, 'id' | 'status'> | Omit<CustomCallItem, 'id' | 'status'>): ResponseEvent[] {
    const events = this.close();
    const isCustom = callItem.type === 'custom_tool_call';
    const completed = { ...callItem, id: this.#nextId(isCustom ? 'ctc' : 'fc'), status: 'completed' as const };
    const position = { item_id: completed.id, output_index: this.items.length };
    this.items.push(completed);
    const deltas: ResponseEvent[] =
      completed.type === 'custom_tool_call'
        ? [
            { type: 'response.custom_tool_call_input.delta', ...position, delta: completed.input },
            { type: 'response.custom_tool_call_input.done', ...position, input: completed.input },
          ]
        : [
            { type: 'response.function_call_arguments.delta', ...position, delta: completed.arguments },
            { type: 'response.function_call_arguments.done', ...position, name: completed.name, arguments: completed.arguments },
          ];
    const started = { ...completed, [isCustom ? 'input' : 'arguments']: '', status: 'in_progress' };
    return [
      ...events,
      { type: 'response.output_item.added', output_index: position.output_index, item: started },
      ...deltas,
      { type: 'response.output_item.done', output_index: position.output_index, item: completed },
    ];
  }

  beginSearch({ type, id, query }: Extract<SearchEvent, { type: 'web_search_started' | 'file_search_started' }>): ResponseEvent[] {
    const events = this.close();
    const item: SearchCallItem | FileSearchCallItem =
      type === 'file_search_started'
        ? { type: 'file_search_call', id: this.#nextId('fs'), status: 'in_progress', queries: [query], results: null }
        : {
            ...{ type: 'web_search_call', id: this.#nextId('ws'), status: 'in_progress' },
            action: { type: 'search', query, queries: [query] },
          };
    const position = { item_id: item.id, output_index: this.items.push(item) - 1 };
    this.#searches.set(id, { item, position });
    return [
      ...events,
      { type: 'response.output_item.added', output_index: position.output_index, item: { ...item } },
      { type: `response.${item.type}.in_progress`, ...position },
      { type: `response.${item.type}.searching`, ...position },
    ];
  }

  endSearch(event: Extract<SearchEvent, { type: 'web_search_ended' | 'file_search_ended' }>): ResponseEvent[] {
    const search = this.#searches.get(event.id);
    if (!search) return [];
    this.#searches.delete(event.id);
    const { item, position } = search;
    item.status = event.failure === undefined ? 'completed' : 'failed';
    if (event.type === 'file_search_ended') {
      if (this.#include.results && item.type === 'file_search_call')
        item.results = event.results.map(({ documentId, path, ...found }) => ({ file_id: documentId, filename: path, ...found }));
    } else if (this.#include.sources && item.type === 'web_search_call')
      item.action.sources = event.results.map(({ url }) => ({ type: 'url', url }));
    return [
      { type: `response.${item.type}.completed`, ...position },
      { type: 'response.output_item.done', output_index: position.output_index, item },
    ];
  }

  /** Ends the item being written, if there is one. */
  close(status: ItemStatus = 'completed'): ResponseEvent[] {
    if (!this.#open) return [];
    const { item } = this.#open;
    const events = this.#endPart(this.#open);
    this.#open = undefined;
    item.status = status;
    return [...events, { type: 'response.output_item.done', output_index: this.items.length - 1, item }];
  }

  /** Events that start a message's part, and the message if none is open; empty if such a part is open. */
  #ensurePart(type: MessagePart['type'], make: () => MessagePart): ResponseEvent[] {
    if (this.#open?.part.type === type) return [];
    const events: ResponseEvent[] = [];
    let item: MessageItem;
    if (this.#open?.item.type === 'message') {
      events.push(...this.#endPart(this.#open));
      item = this.#open.item;
    } else {
      events.push(...this.close());
      item = { type: 'message', id: this.#nextId('msg'), role: 'assistant', status: 'in_progress', content: [] };
      events.push(this.#begin(item));
    }
    const part = make();
    item.content.push(part);
    return [...events, this.#beginPart({ item, part })];
  }

  #nextId(prefix: string): string {
    return this.#createId(prefix, this.items.length);
  }

  #getPosition({ item }: OpenItem): { item_id: string; output_index: number; content_index: number } {
    return { item_id: item.id, output_index: this.items.length - 1, content_index: item.content.length - 1 };
  }

  /** Events contain a snapshot, as the item continues to grow. */
  #begin(item: MessageItem | ReasoningItem): ResponseEvent {
    const output_index = this.items.push(item) - 1;
    return { type: 'response.output_item.added', output_index, item: { ...item, content: [] } };
  }

  #beginPart(open: OpenItem): ResponseEvent {
    this.#open = open;
    return { type: 'response.content_part.added', ...this.#getPosition(open), part: { ...open.part } };
  }

  #endPart(open: OpenItem): ResponseEvent[] {
    const { part } = open;
    const position = this.#getPosition(open);
    const { type, ...content } = part.type === 'output_text' ? { type: part.type, text: part.text, logprobs: [] } : part;
    return [
      { type: `response.${type}.done`, ...position, ...content },
      { type: 'response.content_part.done', ...position, part },
    ];
  }

  #appendDelta(delta: string, more: Record<string, unknown> = {}): ResponseEvent[] {
    if (!this.#open) return [];
    const { part } = this.#open;
    if (part.type === 'refusal') part.refusal += delta;
    else part.text += delta;
    return [{ type: `response.${part.type}.delta`, ...this.#getPosition(this.#open), delta, ...more }];
  }
}
