import type { ProviderState } from './provider-state.ts';

/** A part of a message, as in the public API. */
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
  /** Namespace of the called tool. */
  namespace?: string;
  arguments: string;
  status: ItemStatus;
}

/** A call of a tool with free-text input. */
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
  /** Data that the provider requires back with the following calls, sealed. */
  encrypted_content?: string;
  status: ItemStatus;
}

/** A web search that Perch has run for the model. */
export interface SearchCallItem {
  type: 'web_search_call';
  id: string;
  status: 'in_progress' | 'completed' | 'failed';
  action: { type: 'search'; query: string; queries: string[]; sources?: { type: 'url'; url: string }[] };
}

/** A search of collections that Perch has run for the model. */
export interface FileSearchCallItem {
  type: 'file_search_call';
  id: string;
  status: 'in_progress' | 'completed' | 'failed';
  queries: string[];
  /** Null unless the request has asked for them. */
  results: FileSearchResult[] | null;
}

interface FileSearchResult {
  file_id: string;
  filename: string;
  /** 0 to 1. */
  score: number;
  text: string;
  attributes: Readonly<Record<string, string | number>>;
}

type HostedCallItem = SearchCallItem | FileSearchCallItem;
/** Item of a conversation. */
export type Item = MessageItem | CallItem | CustomCallItem | CallOutputItem | ReasoningItem | HostedCallItem;
/** Item that a model can create. */
export type OutputItem = MessageItem | CallItem | CustomCallItem | ReasoningItem | HostedCallItem;

/** A stored response. */
export interface ResponseRecord {
  /** `resp_<time><random>`: ids sort by age. */
  id: string;
  /** Caller that created it. */
  principal: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** The response that this one continues. */
  previousId: string | null;
  /** Input items, without those of the previous responses. */
  input: Item[];
  output: OutputItem[];
  /** Data that the provider requires back with its tool calls. */
  kept?: ProviderState;
  /** Response body of `GET`, without `output`. */
  fields: Record<string, unknown>;
  /** For a response created in the background: time of its host's last sign of life. */
  aliveAt?: number;
  /** Length as JSON. */
  chars: number;
}
