import { toProblem } from '#kit/problems.ts';
import { toasts } from '#kit/toasts.svelte.ts';
import { m } from '../i18n/messages.ts';
import { projects } from './project-list.svelte.ts';

/** Moves a chat to a project, or out of its project, and offers to undo that. A problem is shown as a toast. */
export async function moveChat(path: string, to: string | null, from: string | null): Promise<void> {
  try {
    await projects.moveChats([path], to);
    const name = projects.find(to)?.name;
    toasts.show(name === undefined ? m.project_chat_removed() : m.project_chat_moved({ name }), {
      action: { label: m.kit_undo(), run: () => void moveChat(path, from, to) },
    });
  } catch (error) {
    toasts.show(toProblem(error, m.project_doing_move()).message, { sticky: true });
  }
}
