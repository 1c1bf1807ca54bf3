import { parseJson } from '#shared/parse-json.ts';
import { z } from '#shared/rpc/zod.ts';
import { toVisibleName } from '#shared/display-name.ts';
import { formatNumber } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';
import { createFreePromptName, validatePromptName } from '#app/state/prompt-names.ts';
import { type Prompt, PROMPT_LIMITS } from '#shared/prompts/prompt.ts';

const MAX_FILE_BYTES = 16 * 1024 * 1024;

const entrySchema = z.object({
  command: z.string().max(1000).optional(),
  name: z.string().max(1000).optional(),
  title: z.string().optional(),
  description: z.string().nullish(),
  content: z.string().trim().min(1).max(PROMPT_LIMITS.text),
});

interface ParsedPrompts {
  prompts: Prompt[];
  /** Items that could not be read, as sentences. */
  problems: string[];
}

/** Exports prompts in a format that Open WebUI can import: a list of `{command, title, description, content}`. */
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
export function parsePrompts(json: string): ParsedPrompts {
  if (json.length > MAX_FILE_BYTES) throw new Error(m.prompts_file_too_long());
  const list = z.array(z.unknown()).safeParse(parseJson(json)).data;
  if (!list) throw new Error(m.prompts_file_wrong());
  if (list.length > PROMPT_LIMITS.count) throw new Error(m.prompts_file_too_many({ count: PROMPT_LIMITS.count }));
  const prompts: Prompt[] = [];
  const problems: string[] = [];
  for (const [index, value] of list.entries()) {
    const { data } = entrySchema.safeParse(value);
    if (!data) {
      problems.push(m.prompts_file_entry_wrong({ number: formatNumber(index + 1) }));
      continue;
    }
    const commandName = (data.command ?? data.name ?? data.title ?? '').trim().replace(/^\//, '').normalize('NFC').toLowerCase();
    const name = validatePromptName(commandName) === null ? commandName : createFreePromptName(commandName, new Set());
    prompts.push({
      name,
      title: toVisibleName((data.title ?? data.name)?.trim().slice(0, PROMPT_LIMITS.title), name),
      description: (data.description ?? '').trim().slice(0, PROMPT_LIMITS.description),
      text: data.content,
    });
  }
  if (prompts.length === 0) throw new Error(problems.length > 0 ? m.prompts_file_no_text() : m.prompts_file_none());
  return { prompts, problems };
}
