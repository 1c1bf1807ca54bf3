import { parse, stringify } from 'yaml';
import { z } from '../rpc/zod.ts';
import { splitFrontMatter } from '../front-matter.ts';
import { toVisibleName } from '../display-name.ts';
import { isPromptName, type Prompt, PROMPT_LIMITS } from './prompt.ts';

/** Folder of prompts in the main workspace: one Markdown file each. */
export const PROMPTS_FOLDER = 'prompts';

const trimmedText = z
  .union([z.string(), z.number(), z.boolean()])
  .transform((value) => String(value).trim())
  .catch('');
const frontMatterSchema = z.object({ title: trimmedText, description: trimmedText });

export const getPromptPath = (name: string): string => `${PROMPTS_FOLDER}/${name}.md`;

/** The name of a prompt's file; null for any other file. */
export function parsePromptName(path: string): string | null {
  const name = /^prompts\/([^/]+)\.md$/.exec(path)?.[1];
  return name !== undefined && isPromptName(name) ? name : null;
}

/** Reads a prompt's file. Anybody may have written it: front matter that cannot be read counts as none. */
export function parsePrompt(name: string, file: string): Prompt {
  const { yaml, body } = splitFrontMatter(file);
  const { title = '', description = '' } = (yaml === undefined ? undefined : parseFrontMatter(yaml)) ?? {};
  return {
    name,
    title: toVisibleName(title.slice(0, PROMPT_LIMITS.title), name),
    description: description.slice(0, PROMPT_LIMITS.description),
    text: body.replace(/^\r?\n/, '').replace(/\r?\n$/, ''),
  };
}

function parseFrontMatter(yaml: string): z.infer<typeof frontMatterSchema> | undefined {
  try {
    return frontMatterSchema.safeParse(parse(yaml, { maxAliasCount: 0, logLevel: 'silent' })).data;
  } catch {
    return undefined;
  }
}

/** A prompt as its file has it. */
export const formatPromptFile = ({ title, description, text }: Prompt): string =>
  `---\n${stringify({ title, ...(description === '' ? {} : { description }) }, { lineWidth: 0 })}---\n\n${text}\n`;
