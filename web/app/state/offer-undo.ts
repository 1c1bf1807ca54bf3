import { toasts } from '#kit/toasts.svelte.ts';
import { toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';

/**
 * Says that something was deleted, and offers to restore it from the trash. `trashIds`: empty if storage was full, so that it cannot be
 * restored. `onrestored`: called with the paths of the restored items.
 */
export function offerUndo(text: string, trashIds: readonly string[], onrestored?: (paths: string[]) => unknown): void {
  async function restore(): Promise<void> {
    try {
      const paths: string[] = [];
      for (const id of trashIds) paths.push((await gateway.call('trash.restore', { id })).path);
      await onrestored?.(paths);
    } catch (error) {
      toasts.show(toProblem(error, m.state_doing_restore()).message, { sticky: true });
    }
  }
  if (trashIds.length === 0) return void toasts.show(text);
  const id = toasts.show(text, { action: { label: m.kit_undo(), run: () => void restore() } });
  toasts.focusLost(id);
}
