import type { SessionEntry } from '#shared/rpc/records.ts';
import { problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/frame.ts';
import { toasts } from './toasts.svelte.ts';

/** Has a chat summarised for its model now, and says what became of it. */
export async function summariseChat({ agentId, sessionId, title }: SessionEntry): Promise<void> {
  const working = toasts.show(m.chat_summarising({ title }), { sticky: true });
  try {
    const { compacted } = await gateway.call('sessions.compact', { agentId, sessionId });
    toasts.show(compacted ? m.chat_summarised({ title }) : m.chat_too_little_to_summarise({ title }));
  } catch (error) {
    toasts.show(problemOf(error, m.chat_doing_summarise()).message, { sticky: true });
  } finally {
    toasts.dismiss(working);
  }
}
