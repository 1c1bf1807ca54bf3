import type { SessionEntry } from '#shared/rpc/record-schemas.ts';
import { toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { toasts } from '#kit/toasts.svelte.ts';

/** Summarises a chat for its model now and shows the result as a toast. */
export async function summariseChat({ agentId, sessionId, title }: SessionEntry): Promise<void> {
  const progressToast = toasts.show(m.chat_summarising({ title }), { sticky: true });
  try {
    const { compacted } = await gateway.call('sessions.compact', { agentId, sessionId });
    toasts.show(compacted ? m.chat_summarised({ title }) : m.chat_too_little_to_summarise({ title }));
  } catch (error) {
    toasts.show(toProblem(error, m.chat_doing_summarise()).message, { sticky: true });
  } finally {
    toasts.dismiss(progressToast);
  }
}
