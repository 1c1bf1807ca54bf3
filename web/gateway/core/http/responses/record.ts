import type { Kept } from '../../providers/provider.ts';

/** A piece of a message, in the public API's words. */
export type ContentPart =
  | { type: 'input_text'; text: string }
  | { type: 'output_text'; text: string; annotations: unknown[]; logprobs: unknown[] }
  | { type: 'refusal'; refusal: string }
  | { type: 'input_image'; image_url: string; detail: string }
  | { type: 'input_file'; filename: string; file_data: string };

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface MessageItem {
  type: 'message';
  id: string;
  role: 'user' | 'assistant' | 'system' | 'developer';
  status: ItemStatus;
  content: ContentPart[];
}

export interface CallItem {
  type: 'function_call';
  id: string;
  call_id: string;
  name: string;
  /** Group of tools that the called one is in. */
  namespace?: string;
  arguments: string;
  status: ItemStatus;
}

/** A call of a tool that takes free text. */
export interface CustomCallItem {
  type: 'custom_tool_call';
  id: string;
  call_id: string;
  name: string;
  namespace?: string;
  input: string;
  status: ItemStatus;
}

export interface CallOutputItem {
  type: 'function_call_output' | 'custom_tool_call_output';
  id: string;
  call_id: string;
  output: string | ContentPart[];
  status: ItemStatus;
}

export interface ReasoningItem {
  type: 'reasoning';
  id: string;
  summary: unknown[];
  content: { type: 'reasoning_text'; text: string }[];
  /** What the provider wants back with the calls that follow, sealed. */
  encrypted_content?: string;
  status: ItemStatus;
}

/** What a conversation consists of. */
export type Item = MessageItem | CallItem | CustomCallItem | CallOutputItem | ReasoningItem;
/** What a model gives. */
export type OutputItem = MessageItem | CallItem | CustomCallItem | ReasoningItem;

/** A response as it is kept. */
export interface ResponseRecord {
  /** `resp_<time><random>`: they sort by age. */
  id: string;
  /** Who made it. */
  principal: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** The response that it goes on from. */
  previousId: string | null;
  /** What was put in, beside what the earlier responses have. */
  input: Item[];
  output: OutputItem[];
  /** What the provider wants back with its tool calls. */
  kept?: Kept;
  /** As `GET` answers it, without `output`. */
  fields: Record<string, unknown>;
  /** For a response that is made in the background: when its host last said that it is still being made. */
  aliveAt?: number;
  /** How long it is as JSON. */
  chars: number;
}
