import type { ToolCall, Usage } from '#shared/rpc/record-schemas.ts';
import { estimateUsage } from '../../../providers/estimate-usage.ts';
import type { ModelEvent, ModelMessage } from '../../../providers/provider.ts';
import type { ProviderState } from '../../../storage/records/provider-state.ts';
import type { HttpError } from '../http-error.ts';
import { type IncludedData, OutputBuilder, type ResponseEvent, type SearchEvent } from './output-builder.ts';
import type { OutputItem } from '../../../storage/records/response-record.ts';
import type { ResponseTools } from './response-tools.ts';
import { sealState } from './sealed-state.ts';

/** A response being created. */
export interface ResponseOptions {
  /** `resp_…`. */
  id: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** The response has the status `queued` until the model answers. */
  background: boolean;
  /** Request parameters repeated in the response. */
  echo: Record<string, unknown>;
  events: AsyncIterable<ModelEvent | SearchEvent>;
  include: IncludedData;
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
  store(result: ResponseResult): Promise<boolean>;
}

interface ResponseResult {
  fields: Record<string, unknown>;
  output: OutputItem[];
  kept: ProviderState | undefined;
}

type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';
type FinishReason = Extract<ModelEvent, { type: 'finish' }>['reason'];

const INCOMPLETE_REASONS: Partial<Record<FinishReason, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' };

/** Item ids contain the response's id, so that a reference to an item leads to its response. */
export const toItemId = (responseId: string, prefix: string, index: number | `i${number}`): string =>
  `${prefix}_${responseId.slice('resp_'.length)}_${index}`;
/** The response whose id an item's id contains. */
export const toResponseId = (id: string): string | undefined => {
  const hexId = /^[a-z]+_([0-9a-f]{48})_i?\d+$/.exec(id)?.[1];
  return hexId === undefined ? undefined : `resp_${hexId}`;
};

const toSeconds = (ms: number): number => Math.floor(ms / 1000);

/** One answer of `POST /v1/responses`: converts model events to events of the public API and to the response object. */
export class ResponseBuilder {
  readonly #options: ResponseOptions;
  readonly #output: OutputBuilder;
  #usage: Usage | undefined;
  #reasoningTokens = 0;
  #providerState: ProviderState | undefined;
  #isCounted = false;
  /** The model has started to answer. */
  #hasBegun = false;

  constructor(options: ResponseOptions) {
    this.#options = options;
    this.#output = new OutputBuilder((prefix, index) => toItemId(options.id, prefix, index), options.include);
  }

  /** The response object before the model answers. */
  toQueued(): Record<string, unknown> & { output: OutputItem[] } {
    return this.#toObject('queued', {});
  }

  /**
   * All events of the stream, in order. The first is sent with the model's first event, unless the response is created in the background.
   * Throws the model's errors.
   */
  async *run(): AsyncGenerator<ResponseEvent> {
    if (this.#options.background) yield* ['response.created', 'response.queued'].map((type) => ({ type, response: this.toQueued() }));
    try {
      let finish: FinishReason = 'stop';
      const calls: ToolCall[] = [];
      for await (const event of this.#options.events) {
        if (event.type === 'calling') continue;
        if (!this.#hasBegun) yield* this.#begin();
        if (event.type === 'text') yield* this.#output.addText(event.text);
        else if (event.type === 'refusal') yield* this.#output.addRefusal(event.text);
        else if (event.type === 'reasoning') yield* this.#output.addReasoning(event.text);
        else if (event.type === 'citations') yield* this.#output.addAnnotations(event);
        else if (event.type === 'web_search_started' || event.type === 'file_search_started') yield* this.#output.beginSearch(event);
        else if (event.type === 'web_search_ended' || event.type === 'file_search_ended') yield* this.#output.endSearch(event);
        else if (event.type === 'tool_call') calls.push(event.call);
        else if (event.type === 'keep') this.#providerState = event.kept;
        else if (event.type === 'usage') [this.#usage, this.#reasoningTokens] = [event.usage, event.reasoningTokens ?? 0];
        else if (event.type === 'finish') finish = event.reason;
      }
      if (!this.#hasBegun) yield* this.#begin();
      // Calls are last in model events, followed by the data required back with them; here that data comes first.
      const sealed = this.#options.seal && this.#providerState ? sealState(this.#providerState) : undefined;
      if (sealed !== undefined) yield* this.#output.addEncrypted(sealed);
      for (const call of calls) yield* this.#output.addCall(this.#options.tools.toItem(call));
      const reason = INCOMPLETE_REASONS[finish];
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
    this.#hasBegun = true;
    const types = this.#options.background ? ['response.in_progress'] : ['response.created', 'response.in_progress'];
    return types.map((type) => ({ type, response: this.#toObject('in_progress', {}) }));
  }

  async #end(status: Exclude<ResponseStatus, 'queued' | 'in_progress'>, extraFields: Record<string, unknown>): Promise<ResponseEvent> {
    this.#count();
    const { output, ...fields } = this.#toObject(status, extraFields);
    const store = await this.#options.store({ fields, output, kept: this.#providerState });
    // The public API has no event for a cancelled response.
    return { type: `response.${status === 'cancelled' ? 'incomplete' : status}`, response: { ...fields, output, store } };
  }

  /** Runs once: usage so far counts, even if the answer fails. */
  #count(): void {
    if (!this.#hasBegun) return;
    const { messages, model, record } = this.#options;
    this.#usage ??= estimateUsage(messages, this.#output.items.map(getItemText).join(''), model);
    if (!this.#isCounted) record(this.#usage);
    this.#isCounted = true;
  }

  #toObject(status: ResponseStatus, extraFields: Record<string, unknown>): Record<string, unknown> & { output: OutputItem[] } {
    const { id, createdAt, echo, now } = this.#options;
    return {
      id,
      object: 'response',
      created_at: toSeconds(createdAt),
      completed_at: status === 'completed' ? toSeconds(now()) : null,
      status,
      error: null,
      incomplete_details: null,
      ...extraFields,
      ...echo,
      output: [...this.#output.items],
      usage: status === 'queued' || status === 'in_progress' || !this.#usage ? null : toResponseUsage(this.#usage, this.#reasoningTokens),
    };
  }
}

/** The `usage` of a response. */
export function toResponseUsage(
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
function getItemText(item: OutputItem): string {
  if (item.type === 'function_call') return item.name + item.arguments;
  if (item.type === 'custom_tool_call') return item.name + item.input;
  if (item.type === 'web_search_call') return item.action.query;
  if (item.type === 'file_search_call') return item.queries.join('\n');
  return item.content.map((part) => ('text' in part ? part.text : 'refusal' in part ? part.refusal : '')).join('');
}
