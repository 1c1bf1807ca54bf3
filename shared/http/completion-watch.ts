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

/** Whether a piece of an answer tells of an error, in whichever of the usual shapes. */
export const tellsOfError = (value: object): boolean =>
  ('error' in value && Boolean(value.error)) || ('object' in value && value.object === 'error');

/** A piece that may pass; undefined for what is no piece of a completion, and for one that tells of an error. */
export function glanceAt(data: string): Glance | undefined {
  let value: unknown;
  try {
    value = parseJson(data);
  } catch {
    return undefined;
  }
  const parsed = glance.safeParse(value);
  return parsed.success && !tellsOfError(parsed.data) ? parsed.data : undefined;
}

/** A piece that has figures of usage and nothing else, as the one that `include_usage` brings. */
export const isUsageAlone = ({ choices, usage }: Glance): boolean =>
  (choices?.length ?? 0) === 0 && typeof usage === 'object' && usage !== null;

const textual = z.string().nullish().catch(null);
const thinking = z
  .array(z.object({ text: textual }))
  .nullish()
  .catch(null);
/** What a model writes, wherever the vendors put it. */
const written = z.object({
  content: z
    .union([z.string(), z.array(z.object({ text: textual, thinking }))])
    .nullish()
    .catch(null),
  refusal: textual,
  reasoning_content: textual,
  reasoning: textual,
  tool_calls: z
    .array(z.object({ function: z.object({ arguments: textual }).nullish().catch(null) }))
    .nullish()
    .catch(null),
});

const lengthOf = (text: string | null | undefined): number => text?.length ?? 0;

/** Characters that a model has written in one piece, its thoughts and the arguments of its calls included. */
function writtenIn(piece: unknown): number {
  if (typeof piece !== 'object' || piece === null) return 0;
  const { content, refusal, reasoning_content, reasoning, tool_calls } = written.parse(piece);
  const parts = typeof content === 'string' ? [{ text: content, thinking: null }] : (content ?? []);
  const texts = parts.flatMap((part) => [part.text, ...(part.thinking ?? []).map(({ text }) => text)]);
  const calls = (tool_calls ?? []).map((call) => call.function?.arguments);
  return [...texts, refusal, reasoning_content || reasoning, ...calls].reduce((sum, text) => sum + lengthOf(text), 0);
}

/** What has been seen of a stream that passes. */
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
    this.usage = readUsage(chunk.usage) ?? this.usage;
    for (const { index, finish_reason, delta, message } of chunk.choices ?? []) {
      if (finish_reason && !this.whole) this.#finished.add(index ?? 0);
      this.chars += writtenIn(delta) + writtenIn(message);
    }
  }
}
