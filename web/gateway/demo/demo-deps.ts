import type { ExternalDeps } from '../host/host-options.ts';
import { createDemoBridge } from './demo-bridge.ts';
import { createDemoFetch } from './demo-fetch.ts';
import { GatewayClient } from '#shared/client/client.ts';
import { memoryPair } from '#shared/link/link.ts';
import { LEVELS } from '#shared/rpc/contract.ts';
import type { Gateway } from '../gateway-options.ts';
import { isObject } from '#shared/merge-patch.ts';
import type { Vault } from '../storage/vault-interface.ts';
import { CHECKLIST, CLUB_PAGE } from './bird-club.ts';
import { drawDesktop } from './demo-desktop.ts';
import { seedKnowledge } from './demo-knowledge.ts';
import { PROVIDER_URL } from './demo-provider.ts';
import { createDemoUsage } from './demo-usage.ts';

/** The model's provider, added after everything else. */
const PROVIDER_CONFIG = 'demo';

/** Chats with the scripted model at the first start: their tool calls really happen. */
const SEED_CHATS = [
  { sessionId: 'wiki', message: 'Are there any contradictions in the wiki about herons?' },
  { sessionId: 'plan', message: 'Make a plan for this spring’s heron count and start on it.' },
  { sessionId: 'screen', message: 'What’s wrong on this page?', picture: true },
];

/** Chats that wait for an approval: a command, and a change after reading from outside. */
const WAITING_CHATS = [
  { sessionId: 'approval', message: 'Run the tests, please.' },
  { sessionId: 'outside', message: `Read ${CLUB_PAGE.url} and update my checklist.` },
];

/** The demo's environment: a scripted model, a made-up machine, and no network. */
export const createDemoDeps = (): ExternalDeps => ({ bridge: createDemoBridge(), fetch: createDemoFetch(), seed: seedDemo });

/** Fills a new vault with the demo's data, through the gateway's own methods. */
async function seedDemo(gateway: Gateway, vault: Vault): Promise<void> {
  const [near, far] = memoryPair<string>();
  gateway.accept(far, { principal: 'app:local', scopes: LEVELS, challenged: false, socket: false });
  const client = await GatewayClient.connect(near, {
    params: { client: { id: 'perch-demo', version: __PERCH_BUILD__, platform: 'web', mode: 'ui' }, clientName: 'Demo' },
  });
  const { value } = await client.call('config.get', {});
  if (isObject(value) && isObject(value.providers) && PROVIDER_CONFIG in value.providers) return client.close();
  const policies = {
    desktop_screenshot: 'auto',
    wiki_contradictions: 'auto',
    current_time: 'auto',
    web_fetch: 'auto',
    memory_add: 'auto',
    file_write: 'auto',
  };
  await client.call('config.patch', { patch: { gateway: { discover: false }, tools: { policies } } });
  await vault.usage.addStrict(createDemoUsage(Date.now()));
  await seedKnowledge(client);
  await client.call('workspace.write', { path: CHECKLIST.path, content: CHECKLIST.before });
  const provider = { kind: 'openai-compatible', name: 'Demo (scripted)', baseUrl: PROVIDER_URL };
  await client.call('config.patch', {
    patch: { providers: { [PROVIDER_CONFIG]: provider }, chat: { model: `${PROVIDER_CONFIG}/scripted`, titles: false } },
  });
  // Not awaited: the chats appear while the page is open.
  void runChats(client);
}

/** Resolves when the last chat ends: those that wait for an approval keep the connection open until then. */
async function runChats(client: GatewayClient): Promise<void> {
  const { screenshotB64, sizeBytes } = await drawDesktop();
  const attachments = [{ filename: 'herons.png', mimeType: 'image/png', content: screenshotB64, size: sizeBytes }];
  const send = ({ sessionId, message, picture = false }: { sessionId: string; message: string; picture?: boolean }): Promise<unknown> =>
    client
      .call('chat.send', { sessionId, message, idempotencyKey: `demo-${sessionId}`, ...(picture ? { attachments } : {}) })
      .catch((error: unknown) => console.warn('[perch demo]', error));
  for (const chat of SEED_CHATS) await send(chat);
  await Promise.all(WAITING_CHATS.map(send));
  client.close();
}
