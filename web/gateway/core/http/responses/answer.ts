import type { ToolCall, Usage } from '#shared/rpc/records.ts';
import { estimateUsage } from '../../providers/estimate.ts';
import type { Kept, ModelEvent, ModelMessage } from '../../providers/provider.ts';
import type { HttpError } from '../errors.ts';
import { Output, type ResponseEvent } from './output.ts';
import type { OutputItem } from './record.ts';
import type { ResponseTools } from './response-tools.ts';
import { seal } from './sealed.ts';

/** A response that is being made. */
export interface Making {
  /** `resp_…`. */
  id: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** The response is queued before the model answers. */
  background: boolean;
  /** What the response says of its request. */
  echo: Record<string, unknown>;
  events: AsyncIterable<ModelEvent>;
  /** The caller's tools. */
  tools: Pick<ResponseTools, 'toItem'>;
  /** Thoughts are given with what the provider wants back of them. */
  seal: boolean;
  /** What was asked, and of whom, for an estimate where it breaks off before any usage has come. */
  messages: readonly ModelMessage[];
  model: string;
  now(): number;
  /** Told the usage once, at the end. */
  record(usage: Usage): void;
  /** Keeps what has come of it; false where it is not kept. */
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

/** Ids of a response's items name the response, so that a reference to one leads there. */
export const itemId = (responseId: string, prefix: string, index: number | `i${number}`): string =>
  `${prefix}_${responseId.slice('resp_'.length)}_${index}`;
/** The response that an item's id names. */
export const responseOf = (id: string): string | undefined => {
  const named = /^[a-z]+_([0-9a-f]{48})_i?\d+$/.exec(id)?.[1];
  return named === undefined ? undefined : `resp_${named}`;
};

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** One answer of `POST /v1/responses`: the events of a model become those of the public API, and the response object. */
export class Answer {
  readonly #making: Making;
  readonly #output: Output;
  #usage: Usage | undefined;
  #reasoningTokens = 0;
  #kept: Kept | undefined;
  #counted = false;
  /** The model has answered. */
  #begun = false;

  constructor(making: Making) {
    this.#making = making;
    this.#output = new Output((prefix, index) => itemId(making.id, prefix, index));
  }

  /** The response before the model answers. */
  queued(): Record<string, unknown> & { output: OutputItem[] } {
    return this.#object('queued', {});
  }

  /** All events of the stream, in order. The first comes with the model's, unless it is made in the background; throws what the model did. */
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
      // Calls come at the end, and what is wanted back with them behind them: here it is before.
      const sealed = this.#making.seal && this.#kept ? seal(this.#kept) : undefined;
      if (sealed !== undefined) yield* this.#output.sealed(sealed);
      for (const call of calls) yield* this.#output.call(this.#making.tools.toItem(call));
      const reason = INCOMPLETE[finish];
      yield* this.#output.close(reason === undefined ? 'completed' : 'incomplete');
      yield await this.#end(reason === undefined ? 'completed' : 'incomplete', {
        incomplete_details: reason === undefined ? null : { reason },
      });
    } finally {
      // However it has ended.
      this.#count();
    }
  }

  /** The event that ends a stream which has begun. */
  fail({ status, message }: HttpError): Promise<ResponseEvent> {
    this.#output.close('incomplete');
    return this.#end('failed', { error: { code: status === 429 ? 'rate_limit_exceeded' : 'server_error', message } });
  }

  /** The event that ends a response which was cancelled. */
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

  /** Once: what has come so far counts, whatever becomes of the answer. */
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
      usage: status === 'queued' || status === 'in_progress' || !this.#usage ? null : this.#usageObject(this.#usage),
    };
  }

  #usageObject({ inputTokens, outputTokens, totalTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: Usage): Record<string, unknown> {
    return {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: this.#reasoningTokens },
      total_tokens: totalTokens,
    };
  }
}

/** What of an item the model has written. */
function said(item: OutputItem): string {
  if (item.type === 'function_call') return item.name + item.arguments;
  if (item.type === 'custom_tool_call') return item.name + item.input;
  return item.content.map((part) => ('text' in part ? part.text : 'refusal' in part ? part.refusal : '')).join('');
}
