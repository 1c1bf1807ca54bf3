import { writeEvent } from '#shared/http/messages-api.ts';
import type { ToolCall, Usage } from '#shared/rpc/records.ts';
import type { ModelEvent } from '../../providers/provider.ts';
import type { FinishReason } from '../completion.ts';

/** Fields common to all events of an answer. */
export interface MessageHead {
  id: string;
  /** As named by the client. */
  model: string;
}

export const messageHead = (model: string): MessageHead => ({ id: `msg_${crypto.randomUUID().replaceAll('-', '')}`, model });

type ContentBlock =
  | { type: 'text'; text: string; citations: null }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown>; caller: { type: 'direct' } };

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

/** Anthropic counts cached input separately; Perch includes it in the input. */
export function toUsage({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): Record<string, number> {
  const [read, written] = [cacheReadTokens ?? 0, cacheWriteTokens ?? 0];
  return {
    input_tokens: Math.max(0, inputTokens - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: outputTokens,
  };
}

/** Builds a whole answer from model events. */
export class MessageBuilder {
  readonly #blocks: ContentBlock[] = [];
  #finish: FinishReason = 'stop';
  #refusal = '';
  #stopSequence: string | null = null;
  usage: Usage | undefined;
  /** All generated text, for an estimate of the usage. */
  written = '';

  add(event: ModelEvent): void {
    const last = this.#blocks.at(-1);
    switch (event.type) {
      case 'refusal':
      case 'text':
        if (event.type === 'refusal') this.#refusal += event.text;
        this.written += event.text;
        if (last?.type === 'text') last.text += event.text;
        else this.#blocks.push(textBlock(event.text));
        break;
      case 'reasoning':
        this.written += event.text;
        if (last?.type === 'thinking') last.thinking += event.text;
        else this.#blocks.push(thinkingBlock(event.text));
        break;
      case 'tool_call':
        this.written += JSON.stringify(event.call);
        this.#blocks.push(toolBlock(event.call, event.call.args));
        break;
      case 'usage':
        this.usage = event.usage;
        break;
      case 'finish':
        this.#finish = event.reason;
        this.#stopSequence = event.stopSequence ?? null;
    }
  }

  /** The answer's final fields, with the reason of its end. */
  stop(): Record<string, unknown> {
    const details = this.#finish === 'content_filter' ? { type: 'refusal', category: null, explanation: this.#refusal || null } : null;
    const isSequence = this.#finish === 'stop' && this.#stopSequence !== null;
    const reason = isSequence ? 'stop_sequence' : STOP_REASONS[this.#finish];
    return { stop_reason: reason, stop_sequence: isSequence ? this.#stopSequence : null, stop_details: details };
  }

  message({ id, model }: MessageHead, usage: Usage): Record<string, unknown> {
    return { id, type: 'message', role: 'assistant', model, content: this.#blocks, ...this.stop(), usage: toUsage(usage) };
  }
}

const textBlock = (text: string): ContentBlock => ({ type: 'text', text, citations: null });
const thinkingBlock = (thinking: string): ContentBlock => ({ type: 'thinking', thinking, signature: '' });
const toolBlock = ({ id, tool }: ToolCall, input: Record<string, unknown>): ContentBlock => ({
  ...{ type: 'tool_use', id, name: tool, input },
  caller: { type: 'direct' },
});

/** Writes the events of one stream. */
export class MessageWriter {
  readonly #head: MessageHead;
  #index = -1;
  #open: ContentBlock['type'] | undefined;

  constructor(head: MessageHead) {
    this.#head = head;
  }

  start(usage: Usage): string {
    const { id, model } = this.#head;
    const empty = { content: [], stop_reason: null, stop_sequence: null, stop_details: null };
    const message = { id, type: 'message', role: 'assistant', model, ...empty, usage: { ...toUsage(usage), output_tokens: 1 } };
    return writeEvent({ type: 'message_start', message }) + PING;
  }

  /** The event's text; empty for events that clients do not see. */
  write(event: ModelEvent): string {
    switch (event.type) {
      case 'text':
      case 'refusal':
        return this.#begin(textBlock('')) + this.#delta({ type: 'text_delta', text: event.text });
      case 'reasoning':
        return this.#begin(thinkingBlock('')) + this.#delta({ type: 'thinking_delta', thinking: event.text });
      case 'tool_call': {
        const begun = this.close() + this.#begin(toolBlock(event.call, {}));
        const json = this.#delta({ type: 'input_json_delta', partial_json: JSON.stringify(event.call.args) });
        return begun + json + this.close();
      }
      default:
        return '';
    }
  }

  /** Ends the open block. */
  close(): string {
    if (this.#open === undefined) return '';
    this.#open = undefined;
    return writeEvent({ type: 'content_block_stop', index: this.#index });
  }

  end(stop: Record<string, unknown>, usage: Usage): string {
    const closed = this.close();
    return closed + writeEvent({ type: 'message_delta', delta: stop, usage: toUsage(usage) }) + writeEvent({ type: 'message_stop' });
  }

  #begin(block: ContentBlock): string {
    if (this.#open === block.type) return '';
    const closed = this.close();
    this.#open = block.type;
    this.#index++;
    return closed + writeEvent({ type: 'content_block_start', index: this.#index, content_block: block });
  }

  #delta(delta: Record<string, unknown>): string {
    return writeEvent({ type: 'content_block_delta', index: this.#index, delta });
  }
}

export const PING = writeEvent({ type: 'ping' });
