import { parseJson } from '../parse-json.ts';
import type { Usage } from '../rpc/records.ts';
import { z } from '../rpc/zod.ts';
import { readUsage } from './upstream-usage.ts';

/** The little that is looked at in a completion that passes, in pieces or whole. */
export const glance = z.looseObject({
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
export type Glance = z.infer<typeof glance>;

/** Whether a piece of an answer reports an error, in any of the usual shapes. */
export const tellsOfError = (value: object): boolean =>
  ('error' in value && Boolean(value.error)) ||
  ('object' in value && value.object === 'error') ||
  ('detail' in value && !('choices' in value)) ||
  ('base_resp' in value && isFailure(value.base_resp)) ||
  ('choices' in value && Array.isArray(value.choices) && value.choices.some(isFailedChoice));

/** MiniMax reports errors in `base_resp`, with HTTP status 200. */
const isFailure = (value: unknown): boolean => isRecord(value) && Boolean(value['status_code']);

/** OpenRouter and others report that the model broke off in the choice. */
const isFailedChoice = (value: unknown): boolean => isRecord(value) && (Boolean(value['error']) || value['finish_reason'] === 'error');

/** A chunk that may be passed on; undefined if it is not a chunk of a completion, or contains an error. */
export function glanceAt(data: string): Glance | undefined {
  let value: unknown;
  try {
    value = parseJson(data);
  } catch {
    return undefined;
  }
  return isGlance(value) && !tellsOfError(value) ? value : undefined;
}

/** As the schema has it, by hand: a stream has thousands of pieces, and each would take the schema five times as long as its JSON. */
export function isGlance(value: unknown): value is Glance {
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
export const isUsageAlone = ({ choices, usage }: Glance): boolean =>
  (choices?.length ?? 0) === 0 && typeof usage === 'object' && usage !== null;

/** Number of characters that a model has written in one chunk, including reasoning and arguments of tool calls in every vendor's fields. */
function writtenIn(piece: unknown): number {
  if (!isRecord(piece)) return 0;
  const { content, refusal, reasoning_content, reasoning, tool_calls } = piece;
  let chars = lengthOf(content) + lengthOf(refusal) + (lengthOf(reasoning_content) || lengthOf(reasoning));
  for (const part of recordsIn(content)) {
    chars += lengthOf(part['text']);
    for (const thought of recordsIn(part['thinking'])) chars += lengthOf(thought['text']);
  }
  for (const call of recordsIn(tool_calls)) if (isRecord(call['function'])) chars += lengthOf(call['function']['arguments']);
  return chars;
}

const lengthOf = (text: unknown): number => (typeof text === 'string' ? text.length : 0);
const NONE: readonly Record<string, unknown>[] = [];
const recordsIn = (list: unknown): readonly Record<string, unknown>[] => (Array.isArray(list) ? list.filter(isRecord) : NONE);

/** Collects facts about a completion stream that is passed through. */
export class CompletionWatch {
  readonly #choices: number;
  readonly #finished = new Set<number>();
  usage: Usage | undefined;
  /** Characters that were generated. */
  chars = 0;

  constructor(choices: number) {
    this.#choices = choices;
  }

  /** All choices have their finish reason: the answer is whole. */
  get whole(): boolean {
    return this.#finished.size >= this.#choices;
  }

  see(chunk: Glance): void {
    if (chunk.usage != null) this.usage = readUsage(chunk.usage, chunk['timings']) ?? this.usage;
    for (const { index, finish_reason, delta, message } of chunk.choices ?? []) {
      if (finish_reason && !this.whole) this.#finished.add(index ?? 0);
      this.chars += writtenIn(delta) + writtenIn(message);
    }
  }
}
