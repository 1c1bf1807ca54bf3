import { isPromptName, type Prompt, PROMPT_LIMITS } from '#shared/prompts/prompt.ts';
import { m } from '../i18n/messages.ts';

/** Why a text is not a valid name of a prompt, as a sentence; null if it is valid. */
export function validatePromptName(name: string): string | null {
  if (name.length > PROMPT_LIMITS.name) return m.slash_name_too_long({ count: PROMPT_LIMITS.name });
  return isPromptName(name) ? null : m.slash_name_wrong();
}

/** Creates an unused name from any text. */
export function createFreePromptName(text: string, usedNames: ReadonlySet<string>): string {
  const base =
    text
      .normalize('NFC')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_]+/gu, '-')
      .replace(/^[-_\p{M}]+|-+$/gu, '')
      .slice(0, PROMPT_LIMITS.name - 5) || 'prompt';
  let name = base;
  for (let count = 2; usedNames.has(name); count++) name = `${base}-${count}`;
  return name;
}

/** Finds prompts whose name starts with the typed text, then those with a word that does; all for an empty text. */
export function findPrompts<T extends Pick<Prompt, 'name' | 'title'>>(prompts: readonly T[], input: string): T[] {
  const query = input.normalize('NFC').toLowerCase();
  const byName = prompts.filter(({ name }) => name.startsWith(query));
  const byWord = prompts.filter(
    ({ name, title }) =>
      !name.startsWith(query) &&
      `${name} ${title}`
        .toLowerCase()
        .split(/[\s_-]+/)
        .some((word) => word.startsWith(query)),
  );
  return [...byName, ...byWord];
}
