import { parseJson } from '../parse-json.ts';
import type { Usage } from '../rpc/record-schemas.ts';
import { type MessagesUsage, readMessagesUsage } from './messages-usage.ts';

type Json = Record<string, unknown>;

/** Verdict on an event of an answer in Anthropic's format. `usual`: only text of the model. `last`: the answer ends with it. `odd`: an error, or not an event of a message. */
export type MessageEventKind = 'usual' | 'passes' | 'last' | 'odd';

/** Deltas with text of the model, and the field that has it. */
const DELTA_TEXT_FIELDS: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
};

/** Tracks a forwarded answer of Anthropic's Messages API: its usage, its size, and whether it is complete. */
export class MessageTracker {
  #usage: Json = {};
  #isComplete = false;
  #hasStarted = false;
  /** Characters that were generated. */
  chars = 0;

  /** Has a stop reason: only a trailer is missing. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  get usage(): Usage | undefined {
    return readMessagesUsage(this.#usage as MessagesUsage);
  }

  /** Reads the data of one event. */
  add(data: string): MessageEventKind {
    const event = parseObject(data);
    const type = event?.['type'];
    if (!event || typeof type !== 'string' || type === 'error' || type === 'message') return 'odd';
    // Events of other kinds may come at any time, but nothing comes before the message.
    if (!this.#hasStarted && type !== 'message_start') return type === 'ping' ? 'passes' : 'odd';
    switch (type) {
      case 'message_start':
        if (!isRecord(event['message'])) return 'odd';
        this.#hasStarted = true;
        this.#mergeUsage(event['message']['usage']);
        return 'passes';
      case 'content_block_delta':
        return this.#addDelta(event['delta']);
      case 'message_delta':
        this.#mergeUsage(event['usage']);
        if (isRecord(event['delta']) && event['delta']['stop_reason']) this.#isComplete = true;
        return 'passes';
      case 'message_stop':
        this.#isComplete = true;
        return 'last';
      default:
        return 'passes';
    }
  }

  /** Reads a buffered answer. Returns false for an error or anything but a message. */
  addMessage(text: string): boolean {
    const message = parseObject(text);
    const content = message?.['content'];
    if (message?.['type'] !== 'message' || !Array.isArray(content)) return false;
    this.#mergeUsage(message['usage']);
    for (const block of content) {
      if (!isRecord(block)) return false;
      const { text: blockText, thinking, input } = block;
      this.chars += getTextLength(blockText) + getTextLength(thinking) + (isRecord(input) ? JSON.stringify(input).length : 0);
    }
    this.#isComplete = true;
    return true;
  }

  #addDelta(delta: unknown): MessageEventKind {
    if (!isRecord(delta)) return 'odd';
    const field = DELTA_TEXT_FIELDS[String(delta['type'])];
    if (field === undefined) return 'passes';
    this.chars += getTextLength(delta[field]);
    return 'usual';
  }

  /** Figures of a later event refer to the complete answer so far. */
  #mergeUsage(usage: unknown): void {
    if (!isRecord(usage)) return;
    const figures = Object.entries(usage).filter(([, value]) => typeof value === 'number' || isRecord(value));
    this.#usage = { ...this.#usage, ...Object.fromEntries(figures) };
  }
}

function parseObject(data: string): Json | undefined {
  try {
    const value = parseJson(data);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const getTextLength = (text: unknown): number => (typeof text === 'string' ? text.length : 0);
