import type { ToolCall, Usage } from '#shared/rpc/records.ts';
import { estimateUsage } from '../../providers/estimate.ts';
import type { Kept, ModelEvent, ModelMessage } from '../../providers/provider.ts';
import type { HttpError } from '../errors.ts';
import { Output, type ResponseEvent } from './output.ts';
import type { OutputItem } from './record.ts';
import type { ResponseTools } from './response-tools.ts';
import { seal } from './sealed.ts';

/** A response being created. */
export interface Making {
  /** `resp_…`. */
  id: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** The response has the status `queued` until the model answers. */
  background: boolean;
  /** Request parameters repeated in the response. */
  echo: Record<string, unknown>;
  events: AsyncIterable<ModelEvent>;
  /** The caller's tools. */
  tools: Pick<ResponseTools, 'toItem'>;
  /** Reasoning items contain the data that the provider requires back. */
  seal: boolean;
  /** The request, for an estimate of the usage if the answer breaks off before any is reported. */
  messages: readonly ModelMessage[];
  model: string;
  now(): number;
  /** Called once with the usage, at the end. */
  record(usage: Usage): void;
  /** Stores the result; false if it is not stored. */
  keep(made: Made): Promise<boolean>;
}

export interface Made {
  fields: Record<string, unknown>;
  output: OutputItem[];
  kept: Kept | undefined;
}

type Status = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';
type Finish = Extract<ModelEvent, { type: 'finish' }>['reason'];

const INCOMPLETE: Partial<Record<Finish, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' };

/** Item ids contain the response's id, so that a reference to an item leads to its response. */
export const itemId = (responseId: string, prefix: string, index: number | `i${number}`): string =>
  `${prefix}_${responseId.slice('resp_'.length)}_${index}`;
/** The response whose id an item's id contains. */
export const responseOf = (id: string): string | undefined => {
  const named = /^[a-z]+_([0-9a-f]{48})_i?\d+$/.exec(id)?.[1];
  return named === undefined ? undefined : `resp_${named}`;
};

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** One answer of `POST /v1/responses`: converts model events to events of the public API and to the response object. */
export class Answer {
  readonly #making: Making;
  readonly #output: Output;
  #usage: Usage | undefined;
  #reasoningTokens = 0;
  #kept: Kept | undefined;
  #counted = false;
  /** The model has started to answer. */
  #begun = false;

  constructor(making: Making) {
    this.#making = making;
    this.#output = new Output((prefix, index) => itemId(making.id, prefix, index));
  }

  /** The response object before the model answers. */
  queued(): Record<string, unknown> & { output: OutputItem[] } {
    return this.#object('queued', {});
  }

  /**
   * All events of the stream, in order. The first is sent with the model's first event, unless the response is created in the background.
   * Throws the model's errors.
   */
  async *run(): AsyncGenerator<ResponseEvent> {
    if (this.#making.background) yield* ['response.created', 'response.queued'].map((type) => ({ type, response: this.queued() }));
    try {
      let finish: Finish = 'stop';
      const calls: ToolCall[] = [];
      for await (const event of this.#making.events) {
        if (event.type === 'calling') continue;
        if (!this.#begun) yield* this.#begin();
        if (event.type === 'text') yield* this.#output.text(event.text);
        else if (event.type === 'refusal') yield* this.#output.refusal(event.text);
        else if (event.type === 'reasoning') yield* this.#output.reasoning(event.text);
        else if (event.type === 'tool_call') calls.push(event.call);
        else if (event.type === 'keep') this.#kept = event.kept;
        else if (event.type === 'usage') [this.#usage, this.#reasoningTokens] = [event.usage, event.reasoningTokens ?? 0];
        else if (event.type === 'finish') finish = event.reason;
      }
      if (!this.#begun) yield* this.#begin();
      // Calls are last in model events, followed by the data required back with them; here that data comes first.
      const sealed = this.#making.seal && this.#kept ? seal(this.#kept) : undefined;
      if (sealed !== undefined) yield* this.#output.sealed(sealed);
      for (const call of calls) yield* this.#output.call(this.#making.tools.toItem(call));
      const reason = INCOMPLETE[finish];
      yield* this.#output.close(reason === undefined ? 'completed' : 'incomplete');
      yield await this.#end(reason === undefined ? 'completed' : 'incomplete', {
        incomplete_details: reason === undefined ? null : { reason },
      });
    } finally {
      // Even after a failure.
      this.#count();
    }
  }

  /** The event that ends a failed stream. */
  fail({ status, message }: HttpError): Promise<ResponseEvent> {
    this.#output.close('incomplete');
    return this.#end('failed', { error: { code: status === 429 ? 'rate_limit_exceeded' : 'server_error', message } });
  }

  /** The event that ends a cancelled response. */
  cancel(): Promise<ResponseEvent> {
    this.#output.close('incomplete');
    return this.#end('cancelled', {});
  }

  #begin(): ResponseEvent[] {
    this.#begun = true;
    const types = this.#making.background ? ['response.in_progress'] : ['response.created', 'response.in_progress'];
    return types.map((type) => ({ type, response: this.#object('in_progress', {}) }));
  }

  async #end(status: Exclude<Status, 'queued' | 'in_progress'>, why: Record<string, unknown>): Promise<ResponseEvent> {
    this.#count();
    const { output, ...fields } = this.#object(status, why);
    const store = await this.#making.keep({ fields, output, kept: this.#kept });
    // The public API has no event for a cancelled response.
    return { type: `response.${status === 'cancelled' ? 'incomplete' : status}`, response: { ...fields, output, store } };
  }

  /** Runs once: usage so far counts, even if the answer fails. */
  #count(): void {
    if (!this.#begun) return;
    const { messages, model, record } = this.#making;
    this.#usage ??= estimateUsage(messages, this.#output.items.map(said).join(''), model);
    if (!this.#counted) record(this.#usage);
    this.#counted = true;
  }

  #object(status: Status, why: Record<string, unknown>): Record<string, unknown> & { output: OutputItem[] } {
    const { id, createdAt, echo, now } = this.#making;
    return {
      id,
      object: 'response',
      created_at: seconds(createdAt),
      completed_at: status === 'completed' ? seconds(now()) : null,
      status,
      error: null,
      incomplete_details: null,
      ...why,
      ...echo,
      output: [...this.#output.items],
      usage: status === 'queued' || status === 'in_progress' || !this.#usage ? null : usageObject(this.#usage, this.#reasoningTokens),
    };
  }
}

/** The `usage` of a response. */
export function usageObject(
  { inputTokens, outputTokens, totalTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: Usage,
  reasoningTokens: number,
): Record<string, unknown> {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: totalTokens,
  };
}

/** The text of an item that the model has written. */
function said(item: OutputItem): string {
  if (item.type === 'function_call') return item.name + item.arguments;
  if (item.type === 'custom_tool_call') return item.name + item.input;
  return item.content.map((part) => ('text' in part ? part.text : 'refusal' in part ? part.refusal : '')).join('');
}
