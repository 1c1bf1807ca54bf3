import { goto } from '$app/navigation';
import { navigating } from '$app/state';
import { ConnectionClosed, GatewayClient } from '#shared/client/client.ts';
import { socketLink } from '#shared/client/websocket.ts';
import type { BridgeHealth, LinkResult } from '#shared/link/link-credentials.ts';
import { importSecret, createProof, verifyProof } from '#shared/link/credential-proof.ts';
import { m } from '../i18n/messages.ts';
import { safeLocalStorage } from '../state/safe-local-storage.ts';
import { type StoredCredential, writeLink } from './link-store.ts';
import { getLinkCommand } from './link-command.ts';

const PROBE_TIMEOUT_MS = 2_000;

const HOST_MODES: readonly BridgeHealth['mode'][] = ['auto', 'tab', 'headless'];

/** Host mode that the bridge reported last. */
export const readHostMode = {
  read: (): BridgeHealth['mode'] | null => HOST_MODES.find((mode) => mode === safeLocalStorage.read('mode')) ?? null,
  write: (mode: BridgeHealth['mode']): void => void safeLocalStorage.write('mode', mode),
};

/** Health of the bridge at this page's origin; null if none responds. */
export async function probeBridge(): Promise<BridgeHealth | null> {
  try {
    const response = await fetch('/health', { cache: 'no-store', signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    if (!response.ok) return null;
    const health = (await response.json()) as Partial<BridgeHealth>;
    return typeof health.mode === 'string' ? (health as BridgeHealth) : null;
  } catch {
    return null;
  }
}

const readCodeFromHash = (): string | null => new URLSearchParams(location.hash.slice(1)).get('link');

/**
 * Trades the single-use code in the address's fragment for this browser's own credentials, and removes it from the address. Returns a
 * sentence if the code is no longer valid, null otherwise.
 */
export async function redeemCode(): Promise<string | null> {
  const code = readCodeFromHash();
  if (!code) return null;
  try {
    const response = await fetch('/link', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) return m.shell_bridge_link_used({ command: getLinkCommand() });
    const { app, host } = (await response.json()) as LinkResult;
    await writeLink({
      app: { id: app.id, key: await importSecret(app.secret) },
      host: { id: host.id, key: await importSecret(host.secret) },
    });
    return null;
  } catch {
    return m.shell_bridge_link_unanswered();
  } finally {
    // After the response, as the router does not accept navigations while it starts, and after a pending navigation, which it would cancel.
    await navigating.complete?.catch(() => {});
    if (readCodeFromHash()) await goto(location.pathname + location.search, { shallow: true, replace: true });
  }
}

/** Connects to the bridge's `/ws` by mutual proof. Rejects with `RpcError` (the credential is not accepted), `ConnectionClosed`, or `Error`. */
export async function connectBridge(credential: StoredCredential): Promise<GatewayClient> {
  const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/ws`);
  const nonce = crypto.randomUUID();
  return GatewayClient.connect(socketLink(socket), {
    params: async (challenge) => ({
      client: { id: 'perch-app', version: __PERCH_BUILD__, platform: 'web', mode: 'ui' },
      clientName: 'Perch',
      events: 'all',
      auth: { credentialId: credential.id, nonce, proof: await createProof(credential.key, 'client', 'app', challenge.nonce, nonce) },
    }),
    async verify({ auth }, challenge) {
      if (auth && (await verifyProof(credential.key, auth.proof, 'server', 'app', challenge.nonce, nonce))) return;
      throw new ConnectionClosed(4002, m.shell_bridge_other());
    },
  });
}
