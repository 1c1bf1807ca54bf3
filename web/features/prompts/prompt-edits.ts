import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { formatList } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';
import { createFreePromptName } from '#app/state/prompt-names.ts';
import { type Prompt, PROMPT_LIMITS } from '#shared/prompts/prompt.ts';
import { formatPromptFile, getPromptPath } from '#shared/prompts/prompt-file.ts';
import { announcer } from '#app/state/announcer.svelte.ts';
import { prompts } from '#app/state/prompt-library.svelte.ts';

/** Source of imported prompts, as labels name it. */
const IMPORT_SOURCE = 'import:prompts';

// Changes to the person's prompts. All functions reject if the gateway refuses.

/** Stores a prompt. `previousName`: the prompt that it replaces; null for a new one. */
export async function savePrompt(prompt: Prompt, previousName: string | null): Promise<void> {
  await write(prompt);
  if (previousName !== null && previousName !== prompt.name) await remove(previousName);
  announcer.announce(previousName === null ? m.prompts_made() : m.prompts_changed());
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

/** Adds prompts of an export: existing ones are skipped, and a name in use is made unique. Returns a summary of the result. */
export async function importPrompts(imported: readonly Prompt[]): Promise<string> {
  await prompts.load();
  const { names } = prompts;
  let added = 0;
  try {
    for (const prompt of imported) {
      const exists = prompts.list?.some(({ text, title }) => text === prompt.text && title === prompt.title);
      if (exists) continue;
      const name = names.has(prompt.name) ? createFreePromptName(prompt.name, names) : prompt.name;
      // Others may have written it: an agent that reads the file asks before it makes changes.
      await write({ ...prompt, name }, [IMPORT_SOURCE]);
      names.add(name);
      added++;
    }
  } finally {
    await prompts.load();
  }
  const skippedCount = imported.length - added;
  const sentences = [m.prompts_added({ count: added }), ...(skippedCount > 0 ? [m.prompts_known({ count: skippedCount })] : [])];
  return formatList(sentences, { style: 'narrow' });
}

async function write(prompt: Prompt, outside?: string[]): Promise<void> {
  const file = { path: getPromptPath(prompt.name), content: formatPromptFile(prompt) };
  await gateway.call('workspace.write', { ...file, ...(outside ? { outside } : {}) });
}

async function remove(name: string): Promise<void> {
  await gateway.call('workspace.remove', { path: getPromptPath(name) });
}
