import { goto } from '$app/navigation';
import { page } from '$app/state';
import { toScopedName } from '#app/state/demo.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';

/** The chat that shows most; the gateway adds it (web/gateway/demo/showcase-chat.ts). */
const SHOWCASE = { agentId: 'main', sessionId: 'spring-count' };
const OPENED_KEY = toScopedName('perch.opened');

/** Opens the showcase if the demo was entered by its front page: once per tab, so that New chat and later reloads stay as they are. */
export async function openShowcase(): Promise<void> {
  const isFrontPage = page.route.id === '/(app)/(chat)' && !page.url.searchParams.has('q');
  if (sessionStorage.getItem(OPENED_KEY) !== null) return;
  sessionStorage.setItem(OPENED_KEY, 'yes');
  if (!isFrontPage) return;
  const path = `/chat/${SHOWCASE.agentId}/${SHOWCASE.sessionId}`;
  await goto(path, { replaceState: true, state: { opensArtifact: true } });
  // A visitor may have deleted it.
  void gateway.call('chat.history', { ...SHOWCASE, limit: 1 }).catch(() => {
    if (page.params.sessionId === SHOWCASE.sessionId) void goto('/', { replaceState: true });
  });
}
