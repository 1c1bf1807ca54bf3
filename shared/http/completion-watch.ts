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

function contentLength(value: unknown): number {
  return typeof value === 'object' && value !== null && 'content' in value && typeof value.content === 'string' ? value.content.length : 0;
}

/** What has been seen of a stream that passes. */
export class CompletionWatch {
  readonly #choices: number;
  readonly #finished = new Set<number>();
  usage: Usage | undefined;
  /** Characters of text that were generated. */
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
      if (finish_reason) this.#finished.add(index ?? 0);
      this.chars += contentLength(delta) + contentLength(message);
    }
  }
}
