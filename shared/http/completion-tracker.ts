import { parseJson } from '../parse-json.ts';
import type { Usage } from '../rpc/record-schemas.ts';
import { z } from '../rpc/zod.ts';
import { readUsage } from './upstream-usage.ts';

/** The fields that are read in a forwarded completion, streamed or buffered. */
export const completionChunk = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        index: z.number().nullish(),
        finish_reason: z.string().nullish(),
        delta: z.unknown().optional(),
        message: z.unknown().optional(),
      }),
    )
    .nullish(),
  usage: z.unknown().optional(),
});
export type CompletionChunk = z.infer<typeof completionChunk>;

/** Whether a chunk of an answer reports an error, in any of the usual formats. */
export const isErrorPayload = (value: object): boolean =>
  ('error' in value && Boolean(value.error)) ||
  ('object' in value && value.object === 'error') ||
  ('detail' in value && !('choices' in value)) ||
  ('base_resp' in value && isProviderFailure(value.base_resp)) ||
  ('choices' in value && Array.isArray(value.choices) && value.choices.some(isFailedChoice));

/** MiniMax reports errors in `base_resp`, with HTTP status 200. */
const isProviderFailure = (value: unknown): boolean => isRecord(value) && Boolean(value['status_code']);

/** OpenRouter and others report an aborted model in the choice. */
const isFailedChoice = (value: unknown): boolean => isRecord(value) && (Boolean(value['error']) || value['finish_reason'] === 'error');

/** Parses a chunk that may be forwarded. Undefined if it is not a chunk of a completion, or contains an error. */
export function parseCompletionChunk(data: string): CompletionChunk | undefined {
  let value: unknown;
  try {
    value = parseJson(data);
  } catch {
    return undefined;
  }
  return isCompletionChunk(value) && !isErrorPayload(value) ? value : undefined;
}

/** Checks the schema by hand: a stream has thousands of chunks, and the schema takes five times as long as parsing the JSON. */
export function isCompletionChunk(value: unknown): value is CompletionChunk {
  if (!isRecord(value)) return false;
  const { choices } = value;
  return choices == null || (Array.isArray(choices) && choices.every(isChoice));
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

function isChoice(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { index, finish_reason } = value;
  return (index == null || Number.isFinite(index)) && (finish_reason == null || typeof finish_reason === 'string');
}

/** Whether a chunk has only usage figures, like the one that `include_usage` adds. */
export const isUsageOnly = ({ choices, usage }: CompletionChunk): boolean =>
  (choices?.length ?? 0) === 0 && typeof usage === 'object' && usage !== null;

/** Number of characters that a model has written in one chunk, including reasoning and arguments of tool calls in every vendor's fields. */
function countGeneratedChars(delta: unknown): number {
  if (!isRecord(delta)) return 0;
  const { content, refusal, reasoning_content, reasoning, tool_calls } = delta;
  let chars = getTextLength(content) + getTextLength(refusal) + (getTextLength(reasoning_content) || getTextLength(reasoning));
  for (const part of filterRecords(content)) {
    chars += getTextLength(part['text']);
    for (const thought of filterRecords(part['thinking'])) chars += getTextLength(thought['text']);
  }
  for (const call of filterRecords(tool_calls)) if (isRecord(call['function'])) chars += getTextLength(call['function']['arguments']);
  return chars;
}

const getTextLength = (text: unknown): number => (typeof text === 'string' ? text.length : 0);
const NONE: readonly Record<string, unknown>[] = [];
const filterRecords = (list: unknown): readonly Record<string, unknown>[] => (Array.isArray(list) ? list.filter(isRecord) : NONE);

/** Collects facts about a forwarded completion stream. */
export class CompletionTracker {
  readonly #choices: number;
  readonly #finished = new Set<number>();
  usage: Usage | undefined;
  /** Characters that were generated. */
  chars = 0;

  constructor(choices: number) {
    this.#choices = choices;
  }

  /** All choices have their finish reason: the answer is complete. */
  get isComplete(): boolean {
    return this.#finished.size >= this.#choices;
  }

  add(chunk: CompletionChunk): void {
    if (chunk.usage != null) this.usage = readUsage(chunk.usage, chunk['timings']) ?? this.usage;
    for (const { index, finish_reason, delta, message } of chunk.choices ?? []) {
      if (finish_reason && !this.isComplete) this.#finished.add(index ?? 0);
      this.chars += countGeneratedChars(delta) + countGeneratedChars(message);
    }
  }
}
