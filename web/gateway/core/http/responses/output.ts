import type { ToolCall } from '#shared/rpc/records.ts';
import type { ContentPart, ItemStatus, MessageItem, OutputItem, ReasoningItem } from './record.ts';

/** An event of the stream, before it is numbered. */
export type ResponseEvent = { type: string } & Record<string, unknown>;

type Open = { item: MessageItem; part: Extract<ContentPart, { type: 'output_text' }> } | { item: ReasoningItem; part: { text: string } };

/** Puts what a model says together into output items, and tells each step as the events of the public API. */
export class Output {
  readonly items: OutputItem[] = [];
  readonly #idOf: (prefix: string, index: number) => string;
  /** The item that is being written. */
  #open: Open | undefined;

  constructor(idOf: (prefix: string, index: number) => string) {
    this.#idOf = idOf;
  }

  text(delta: string): ResponseEvent[] {
    const events: ResponseEvent[] = [];
    if (this.#open?.item.type !== 'message') {
      events.push(...this.close());
      const part = { type: 'output_text' as const, text: '', annotations: [], logprobs: [] };
      const item: MessageItem = { type: 'message', id: this.#id('msg'), role: 'assistant', status: 'in_progress', content: [] };
      events.push(...this.#begin({ item, part }));
      item.content.push(part);
    }
    return [...events, ...this.#add(delta, 'response.output_text.delta', { logprobs: [] })];
  }

  reasoning(delta: string): ResponseEvent[] {
    const events: ResponseEvent[] = [];
    if (this.#open?.item.type !== 'reasoning') {
      events.push(...this.close());
      const part = { type: 'reasoning_text' as const, text: '' };
      const item: ReasoningItem = { type: 'reasoning', id: this.#id('rs'), summary: [], content: [], status: 'in_progress' };
      events.push(...this.#begin({ item, part }));
      item.content.push(part);
    }
    return [...events, ...this.#add(delta, 'response.reasoning_text.delta')];
  }

  /** What the provider wants back goes with the thoughts before the calls. */
  sealed(encrypted: string): ResponseEvent[] {
    if (this.#open?.item.type === 'reasoning') {
      this.#open.item.encrypted_content = encrypted;
      return [];
    }
    const events = this.close();
    const bare: ReasoningItem = { type: 'reasoning', id: this.#id('rs'), summary: [], content: [], status: 'in_progress' };
    const item: ReasoningItem = { ...bare, encrypted_content: encrypted, status: 'completed' };
    const output_index = this.items.push(item) - 1;
    return [
      ...events,
      { type: 'response.output_item.added', output_index, item: bare },
      { type: 'response.output_item.done', output_index, item },
    ];
  }

  call({ id, tool, args }: ToolCall): ResponseEvent[] {
    const events = this.close();
    const whole = {
      type: 'function_call' as const,
      id: this.#id('fc'),
      call_id: id,
      name: tool,
      arguments: JSON.stringify(args),
      status: 'completed' as const,
    };
    const at = { item_id: whole.id, output_index: this.items.length };
    this.items.push(whole);
    return [
      ...events,
      { type: 'response.output_item.added', output_index: at.output_index, item: { ...whole, arguments: '', status: 'in_progress' } },
      { type: 'response.function_call_arguments.delta', ...at, delta: whole.arguments },
      { type: 'response.function_call_arguments.done', ...at, name: whole.name, arguments: whole.arguments },
      { type: 'response.output_item.done', output_index: at.output_index, item: whole },
    ];
  }

  /** Ends the item that is being written, where there is one. */
  close(status: ItemStatus = 'completed'): ResponseEvent[] {
    if (!this.#open) return [];
    const { item, part } = this.#open;
    const at = this.#at(item);
    this.#open = undefined;
    item.status = status;
    const done = item.type === 'message' ? { type: 'response.output_text.done', logprobs: [] } : { type: 'response.reasoning_text.done' };
    return [
      { ...done, ...at, text: part.text },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', output_index: at.output_index, item },
    ];
  }

  #id(prefix: string): string {
    return this.#idOf(prefix, this.items.length);
  }

  #at({ id }: OutputItem): { item_id: string; output_index: number; content_index: number } {
    return { item_id: id, output_index: this.items.length - 1, content_index: 0 };
  }

  /** The events are of what was there then, and the item goes on growing. */
  #begin(open: Open): ResponseEvent[] {
    this.#open = open;
    this.items.push(open.item);
    const at = this.#at(open.item);
    return [
      { type: 'response.output_item.added', output_index: at.output_index, item: { ...open.item, content: [] } },
      { type: 'response.content_part.added', ...at, part: { ...open.part } },
    ];
  }

  #add(delta: string, type: string, more: Record<string, unknown> = {}): ResponseEvent[] {
    if (!this.#open) return [];
    this.#open.part.text += delta;
    return [{ type, ...this.#at(this.#open.item), delta, ...more }];
  }
}
