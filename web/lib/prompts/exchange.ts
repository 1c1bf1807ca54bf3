import { parseJson } from '#shared/parse-json.ts';
import { z } from '#shared/rpc/zod.ts';
import { seenOr } from '#shared/seen.ts';
import { number } from '#lib/i18n/format.ts';
import { m } from '#lib/i18n/pages.ts';
import { freeName, nameProblem } from './prompt.ts';
import { type Prompt, PROMPT_LIMITS } from '#shared/prompts/prompt.ts';

const MAX_BYTES = 16 * 1024 * 1024;

const entry = z.object({
  command: z.string().max(1000).optional(),
  name: z.string().max(1000).optional(),
  title: z.string().optional(),
  description: z.string().nullish(),
  content: z.string().trim().min(1).max(PROMPT_LIMITS.text),
});

export interface ReadPrompts {
  prompts: Prompt[];
  /** Items that could not be read, as sentences. */
  problems: string[];
}

/** Prompts as a file that Open WebUI reads too: a list of `{command, title, description, content}`. */
export const exportPrompts = (prompts: readonly Prompt[]): string =>
  `${JSON.stringify(
    prompts.map(({ name, title, description, text }) => ({ command: `/${name}`, title, description, content: text })),
    null,
    2,
  )}\n`;

/**
 * Reads an export of Perch or Open WebUI (newer ones have the title under `name`, and the command without its slash). Invalid names are
 * corrected. Throws a sentence if the file is not such a list.
 */
export function readPrompts(json: string): ReadPrompts {
  if (json.length > MAX_BYTES) throw new Error(m.prompts_file_too_long());
  const list = z.array(z.unknown()).safeParse(parseJson(json)).data;
  if (!list) throw new Error(m.prompts_file_wrong());
  if (list.length > PROMPT_LIMITS.count) throw new Error(m.prompts_file_too_many({ count: PROMPT_LIMITS.count }));
  const prompts: Prompt[] = [];
  const problems: string[] = [];
  for (const [at, value] of list.entries()) {
    const { data } = entry.safeParse(value);
    if (!data) {
      problems.push(m.prompts_file_entry_wrong({ number: number(at + 1) }));
      continue;
    }
    const words = (data.command ?? data.name ?? data.title ?? '').trim().replace(/^\//, '').normalize('NFC').toLowerCase();
    const name = nameProblem(words) === null ? words : freeName(words, new Set());
    prompts.push({
      name,
      title: seenOr((data.title ?? data.name)?.trim().slice(0, PROMPT_LIMITS.title), name),
      description: (data.description ?? '').trim().slice(0, PROMPT_LIMITS.description),
      text: data.content,
    });
  }
  if (prompts.length === 0) throw new Error(problems.length > 0 ? m.prompts_file_no_text() : m.prompts_file_none());
  return { prompts, problems };
}
