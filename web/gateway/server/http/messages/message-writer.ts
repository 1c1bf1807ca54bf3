import { writeEvent } from '#shared/http/messages-api.ts';
import { toBase64 } from '#shared/base64.ts';
import type { ToolCall, Usage } from '#shared/rpc/record-schemas.ts';
import type { ModelEvent } from '../../../providers/provider.ts';
import { WEB_SEARCH_TOOL } from '../../../agent/web-search/search-result.ts';
import type { FinishReason } from '../completion-objects.ts';
import type { WebSearchEvent } from '../search/hosted-web-search.ts';
import { type CitedText, type PlacedCitation, splitCitedText, toPlacedCitations } from './message-citations.ts';

/** Fields common to all events of an answer. */
export interface MessageHead {
  id: string;
  /** As named by the client. */
  model: string;
}

export const createMessageHead = (model: string): MessageHead => ({ id: `msg_${crypto.randomUUID().replaceAll('-', '')}`, model });

/** Pages that a search has found, or why it has found none. */
type SearchContent =
  | { type: 'web_search_result'; url: string; title: string; page_age: string | null; encrypted_content: string }[]
  | { type: 'web_search_tool_result_error'; error_code: 'unavailable' };

type ContentBlock =
  | ({ type: 'text' } & CitedText)
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'server_tool_use'; id: string; name: typeof WEB_SEARCH_TOOL; input: Record<string, unknown>; caller: { type: 'direct' } }
  | { type: 'web_search_tool_result'; tool_use_id: string; content: SearchContent; caller: { type: 'direct' } }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown>; caller: { type: 'direct' } };

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

/** Anthropic counts cached input separately; Perch includes it in the input. */
function toMessagesUsage({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): Record<string, number> {
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
  readonly #citations: PlacedCitation[] = [];
  #finish: FinishReason = 'stop';
  #refusal = '';
  #searchCount = 0;
  #stopSequence: string | null = null;
  usage: Usage | undefined;
  /** All generated text, for an estimate of the usage. */
  allText = '';

  add(event: ModelEvent | WebSearchEvent): void {
    const last = this.#blocks.at(-1);
    switch (event.type) {
      case 'refusal':
      case 'text':
        if (event.type === 'refusal') this.#refusal += event.text;
        this.allText += event.text;
        if (last?.type === 'text') last.text += event.text;
        else this.#blocks.push(toTextBlock(event.text));
        break;
      case 'reasoning':
        this.allText += event.text;
        if (last?.type === 'thinking') last.thinking += event.text;
        else this.#blocks.push(toThinkingBlock(event.text));
        break;
      case 'tool_call':
        this.allText += JSON.stringify(event.call);
        this.#blocks.push(toToolBlock(event.call, event.call.args));
        break;
      case 'citations':
        this.#citations.push(...toPlacedCitations(event));
        break;
      case 'web_search_started':
        this.#searchCount++;
        this.#blocks.push(toSearchBlock(event.id, { query: event.query }));
        break;
      case 'web_search_ended':
        this.#blocks.push(toSearchResultBlock(event));
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

  toMessage({ id, model }: MessageHead, usage: Usage): Record<string, unknown> {
    return { id, type: 'message', role: 'assistant', model, content: this.#toContent(), ...this.stop(), usage: this.toUsage(usage) };
  }

  /** The final usage, with the number of searches if there were any. */
  toUsage(usage: Usage): Record<string, unknown> {
    const searches = this.#searchCount === 0 ? {} : { server_tool_use: { web_search_requests: this.#searchCount, web_fetch_requests: 0 } };
    return { ...toMessagesUsage(usage), ...searches };
  }

  /** The blocks; cited claims are text blocks of their own, as the API has them. */
  #toContent(): ContentBlock[] {
    if (this.#citations.length === 0) return this.#blocks;
    let offset = 0;
    return this.#blocks.flatMap((block) => {
      if (block.type !== 'text') return [block];
      const parts = splitCitedText(block.text, offset, this.#citations);
      offset += block.text.length;
      return parts.map((part): ContentBlock => ({ type: 'text', ...part }));
    });
  }
}

const toTextBlock = (text: string): ContentBlock => ({ type: 'text', text, citations: null });
const toThinkingBlock = (thinking: string): ContentBlock => ({ type: 'thinking', thinking, signature: '' });
const toSearchBlock = (id: string, input: Record<string, unknown>): ContentBlock => ({
  ...{ type: 'server_tool_use', id: toSearchId(id), name: WEB_SEARCH_TOOL, input },
  caller: { type: 'direct' },
});
/** Clients tell calls of the server's tools by this prefix. */
const toSearchId = (callId: string): string => `srvtoolu_${callId.replaceAll(/[^a-zA-Z0-9_]/g, '_')}`;
const toSearchResultBlock = ({ id, results, failure }: Extract<WebSearchEvent, { type: 'web_search_ended' }>): ContentBlock => ({
  ...{ type: 'web_search_tool_result', tool_use_id: toSearchId(id), caller: { type: 'direct' } },
  content:
    failure === undefined
      ? results.map(({ url, title, snippet, published }) => ({
          ...{ type: 'web_search_result', url, title, page_age: published ?? null },
          encrypted_content: toBase64(new TextEncoder().encode(snippet)),
        }))
      : { type: 'web_search_tool_result_error', error_code: 'unavailable' },
});
const toToolBlock = ({ id, tool }: ToolCall, input: Record<string, unknown>): ContentBlock => ({
  ...{ type: 'tool_use', id, name: tool, input },
  caller: { type: 'direct' },
});

/** Writes the events of one stream. */
export class MessageWriter {
  readonly #head: MessageHead;
  #index = -1;
  #open: ContentBlock['type'] | undefined;
  /** Length of all text, and of that before the open block, in UTF-16 code units. */
  #textLength = 0;
  #blockOffset = 0;

  constructor(head: MessageHead) {
    this.#head = head;
  }

  start(usage: Usage): string {
    const { id, model } = this.#head;
    const empty = { content: [], stop_reason: null, stop_sequence: null, stop_details: null };
    const message = { id, type: 'message', role: 'assistant', model, ...empty, usage: { ...toMessagesUsage(usage), output_tokens: 1 } };
    return writeEvent({ type: 'message_start', message }) + PING_EVENT;
  }

  /** The event's text; empty for events that clients do not see. */
  write(event: ModelEvent | WebSearchEvent): string {
    switch (event.type) {
      case 'text':
      case 'refusal':
        return this.#writeText(event.text);
      case 'reasoning':
        return this.#begin(toThinkingBlock('')) + this.#delta({ type: 'thinking_delta', thinking: event.text });
      case 'tool_call': {
        const blockStart = this.close() + this.#begin(toToolBlock(event.call, {}));
        const json = this.#delta({ type: 'input_json_delta', partial_json: JSON.stringify(event.call.args) });
        return blockStart + json + this.close();
      }
      case 'web_search_started': {
        const blockStart = this.close() + this.#begin(toSearchBlock(event.id, {}));
        return blockStart + this.#delta({ type: 'input_json_delta', partial_json: JSON.stringify({ query: event.query }) }) + this.close();
      }
      case 'web_search_ended':
        return this.close() + this.#begin(toSearchResultBlock(event)) + this.close();
      // The text has been sent, so citations refer to its whole block.
      case 'citations':
        return this.#open !== 'text'
          ? ''
          : toPlacedCitations(event)
              .filter(({ start }) => start >= this.#blockOffset)
              .map(({ citation }) => this.#delta({ type: 'citations_delta', citation }))
              .join('');
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

  end(toStopFields: Record<string, unknown>, usage: Record<string, unknown>): string {
    const blockEnd = this.close();
    return blockEnd + writeEvent({ type: 'message_delta', delta: toStopFields, usage }) + writeEvent({ type: 'message_stop' });
  }

  #writeText(text: string): string {
    const blockStart = this.#begin(toTextBlock(''));
    if (blockStart !== '') this.#blockOffset = this.#textLength;
    this.#textLength += text.length;
    return blockStart + this.#delta({ type: 'text_delta', text });
  }

  #begin(block: ContentBlock): string {
    if (this.#open === block.type) return '';
    const blockEnd = this.close();
    this.#open = block.type;
    this.#index++;
    return blockEnd + writeEvent({ type: 'content_block_start', index: this.#index, content_block: block });
  }

  #delta(delta: Record<string, unknown>): string {
    return writeEvent({ type: 'content_block_delta', index: this.#index, delta });
  }
}

export const PING_EVENT = writeEvent({ type: 'ping' });
