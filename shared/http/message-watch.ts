import { parseJson } from '../parse-json.ts';
import type { Usage } from '../rpc/records.ts';
import { type MessagesUsage, readMessagesUsage } from './messages-usage.ts';

type Json = Record<string, unknown>;

/** Verdict on a piece of an answer in Anthropic's format. `usual`: nothing but text of the model. `last`: the answer ends with it. `odd`: an error, or no piece of a message. */
export type Seen = 'usual' | 'passes' | 'last' | 'odd';

/** Deltas with text of the model, and the field that has it. */
const WRITTEN: Readonly<Record<string, string>> = { text_delta: 'text', thinking_delta: 'thinking', input_json_delta: 'partial_json' };

/** Watches a passing answer of Anthropic's Messages API: its usage, its size, and whether it is complete. */
export class MessageWatch {
  #usage: Json = {};
  #whole = false;
  #begun = false;
  /** Characters that were generated. */
  chars = 0;

  /** Has a stop reason: only a trailer is missing. */
  get whole(): boolean {
    return this.#whole;
  }

  get usage(): Usage | undefined {
    return readMessagesUsage(this.#usage as MessagesUsage);
  }

  /** Looks at the data of one event. */
  see(data: string): Seen {
    const event = read(data);
    const type = event?.['type'];
    if (!event || typeof type !== 'string' || type === 'error' || type === 'message') return 'odd';
    // Events of other kinds may come at any time, but nothing comes before the message.
    if (!this.#begun && type !== 'message_start') return type === 'ping' ? 'passes' : 'odd';
    switch (type) {
      case 'message_start':
        if (!isRecord(event['message'])) return 'odd';
        this.#begun = true;
        this.#count(event['message']['usage']);
        return 'passes';
      case 'content_block_delta':
        return this.#delta(event['delta']);
      case 'message_delta':
        this.#count(event['usage']);
        if (isRecord(event['delta']) && event['delta']['stop_reason']) this.#whole = true;
        return 'passes';
      case 'message_stop':
        this.#whole = true;
        return 'last';
      default:
        return 'passes';
    }
  }

  /** Looks at an answer that came in one piece. False: an error, or no message. */
  seeWhole(text: string): boolean {
    const message = read(text);
    const content = message?.['content'];
    if (message?.['type'] !== 'message' || !Array.isArray(content)) return false;
    this.#count(message['usage']);
    for (const block of content) {
      if (!isRecord(block)) return false;
      const { text: said, thinking, input } = block;
      this.chars += lengthOf(said) + lengthOf(thinking) + (isRecord(input) ? JSON.stringify(input).length : 0);
    }
    this.#whole = true;
    return true;
  }

  #delta(delta: unknown): Seen {
    if (!isRecord(delta)) return 'odd';
    const field = WRITTEN[String(delta['type'])];
    if (field === undefined) return 'passes';
    this.chars += lengthOf(delta[field]);
    return 'usual';
  }

  /** Figures of a later event are of the whole answer so far. */
  #count(counted: unknown): void {
    if (!isRecord(counted)) return;
    const known = Object.entries(counted).filter(([, value]) => typeof value === 'number' || isRecord(value));
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
  }
}

function read(data: string): Json | undefined {
  try {
    const value = parseJson(data);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const lengthOf = (text: unknown): number => (typeof text === 'string' ? text.length : 0);
