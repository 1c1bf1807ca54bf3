import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { formatList } from '#lib/i18n/format.ts';
import { m } from '#lib/i18n/page-messages.ts';
import { createFreePromptName } from '#lib/prompts/prompt-names.ts';
import { type Prompt, PROMPT_LIMITS } from '#shared/prompts/prompt.ts';
import { formatPromptFile, getPromptPath } from '#shared/prompts/prompt-file.ts';
import { announcer } from './announcer.svelte.ts';
import { prompts } from './prompt-library.svelte.ts';

// Changes to the person's prompts. All functions reject if the gateway refuses.

/** Writes one in the place of `before`, where it is given. */
export async function savePrompt(prompt: Prompt, before: string | null): Promise<void> {
  await write(prompt);
  if (before !== null && before !== prompt.name) await remove(before);
  announcer.announce(before === null ? m.prompts_made() : m.prompts_changed());
  await prompts.load();
}

export async function duplicatePrompt(prompt: Prompt): Promise<void> {
  await write({
    ...prompt,
    name: createFreePromptName(prompt.name, prompts.names),
    title: m.prompts_copy({ title: prompt.title }).slice(0, PROMPT_LIMITS.title),
  });
  announcer.announce(m.prompts_duplicated());
  await prompts.load();
}

export async function deletePrompt({ name }: Prompt): Promise<void> {
  await remove(name);
  announcer.announce(m.prompts_deleted());
  await prompts.load();
}

/** Adds those of an export: what is there already stays, and another of a name that is taken gets a name of its own. Tells what came of it. */
export async function importPrompts(imported: readonly Prompt[]): Promise<string> {
  await prompts.load();
  const { names } = prompts;
  let added = 0;
  try {
    for (const prompt of imported) {
      const same = prompts.list?.some(({ text, title }) => text === prompt.text && title === prompt.title);
      if (same) continue;
      const name = names.has(prompt.name) ? createFreePromptName(prompt.name, names) : prompt.name;
      await write({ ...prompt, name });
      names.add(name);
      added++;
    }
  } finally {
    await prompts.load();
  }
  const skippedCount = imported.length - added;
  const facts = [m.prompts_added({ count: added }), ...(skippedCount > 0 ? [m.prompts_known({ count: skippedCount })] : [])];
  return formatList(facts, { style: 'narrow' });
}

async function write(prompt: Prompt): Promise<void> {
  await gateway.call('workspace.write', { path: getPromptPath(prompt.name), content: formatPromptFile(prompt) });
}

async function remove(name: string): Promise<void> {
  await gateway.call('workspace.remove', { path: getPromptPath(name) });
}
