import type { SessionEntry } from '#shared/rpc/records.ts';
import { problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { toasts } from './toasts.svelte.ts';

/** Has a chat summarised for its model now, and says what became of it. */
export async function summariseChat({ agentId, sessionId, title }: SessionEntry): Promise<void> {
  const working = toasts.show(`The earlier messages of “${title}” are being summarised for the model…`, { sticky: true });
  try {
    const { compacted } = await gateway.call('sessions.compact', { agentId, sessionId });
    toasts.show(
      compacted
        ? `The earlier messages of “${title}” are summarised for the model.`
        : `There is too little in “${title}” to summarise yet.`,
    );
  } catch (error) {
    toasts.show(problemOf(error, 'summarise the chat').message, { sticky: true });
  } finally {
    toasts.dismiss(working);
  }
}
