import { goto } from '$app/navigation';
import { page } from '$app/state';
import type { Prompt } from '#shared/prompts/prompt.ts';
import { prompts } from './prompt-library.svelte.ts';

/** Inserts a prompt into the message field of the open chat, or of a new one. */
export async function insertPrompt(prompt: Prompt): Promise<void> {
  prompts.selected = prompt;
  if (!/^\/\(app\)\/(\(chat\)|incognito)/.test(page.route.id ?? '')) await goto('/');
}
