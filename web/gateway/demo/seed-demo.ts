import { systemClock } from '#shared/async/clock.ts';
import { GatewayClient } from '#shared/client/client.ts';
import { memoryPair } from '#shared/link/link.ts';
import { LEVELS } from '#shared/rpc/contract.ts';
import { createVaultWorkspace } from '../agent/workspace/vault-workspace.ts';
import type { Gateway } from '../gateway-options.ts';
import type { Workspace } from '../knowledge/memory/workspace.ts';
import { getProjectWorkspace } from '../storage/records/project-record.ts';
import type { Vault } from '../storage/vault-interface.ts';
import { CHECKLIST } from './bird-club.ts';
import { DEMO_AGENTS } from './demo-agents.ts';
import { seedDrawings } from './demo-drawings.ts';
import { seedDreams } from './demo-dreams.ts';
import { seedKnowledge } from './demo-knowledge.ts';
import { PROVIDER_URL } from './demo-provider.ts';
import { COUNT_PROJECT_ID, createDemoProject, ROUTE_FILE } from './demo-project.ts';
import { createDemoRecords } from './demo-records.ts';
import { seedSchedules } from './demo-schedules.ts';
import { TELEGRAM_URL } from './demo-telegram.ts';
import { createDemoUsage } from './demo-usage.ts';
import { LIVE_CHATS, type LiveChat, renewLiveChat, sendLiveChats } from './live-chats.ts';
import { createPastChats, createPictureChat } from './past-chats.ts';
import { toChatRecords } from './seed-chat.ts';

/** The model's provider. */
const PROVIDER_CONFIG = 'demo';
/** Written after everything else: an interrupted seed is completed by the next worker. */
const COMPLETE_FILE = '.demo/complete.txt';

/** Leaves the worker to the first page while it opens. */
const PAGES_DELAY_MS = 1_000;

/** Tools that run without an approval, so that the demo asks only where it shows an approval. */
const POLICIES = {
  desktop_screenshot: 'auto',
  wiki_contradictions: 'auto',
  current_time: 'auto',
  web_fetch: 'auto',
  memory_add: 'auto',
  file_write: 'auto',
};

interface DemoSeedDeps {
  gateway: Gateway;
  vault: Vault;
  /** Draws the sample screenshot, a PNG in base64. Not every browser can: the demo then has none. */
  drawPicture?: (() => Promise<string>) | undefined;
  /** Milliseconds before the data of other pages is added. */
  pagesDelayMs?: number;
}

/**
 * Fills a new vault with the demo's data, and continues an earlier one: chats that waited for an approval when the last tab was closed wait
 * again. Resolves when the first chat can be shown; the rest is added while it is open.
 */
export async function startDemo({ gateway, vault, drawPicture, pagesDelayMs = PAGES_DELAY_MS }: DemoSeedDeps): Promise<void> {
  const [near, far] = memoryPair<string>();
  gateway.accept(far, { principal: 'app:local', scopes: LEVELS, challenged: false, socket: false });
  const client = await GatewayClient.connect(near, {
    params: { client: { id: 'perch-demo', version: __PERCH_BUILD__, platform: 'web', mode: 'ui' }, clientName: 'Demo' },
  });
  const now = Date.now();
  const workspace = createVaultWorkspace({ vault, clock: systemClock }, 'main');
  const isComplete = (await workspace.read(COMPLETE_FILE)) !== undefined;
  if (!isComplete) await seedChats({ client, vault, now });
  const waiting: LiveChat[] = [];
  for (const chat of LIVE_CHATS) if (await renewLiveChat(vault, chat, now)) waiting.push(chat);
  const seedLater = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, pagesDelayMs));
    await seedPages({ client, vault, workspace, now, picture: await drawPicture?.().catch(() => undefined) });
  };
  void Promise.all([isComplete ? undefined : seedLater(), sendLiveChats(client, waiting)])
    .catch((error: unknown) => console.warn('[perch demo]', error))
    .finally(() => client.close());
}

interface ChatSeedInput {
  client: GatewayClient;
  vault: Vault;
  now: number;
}

interface PageSeedInput extends ChatSeedInput {
  /** The main agent's. */
  workspace: Workspace;
  picture: string | undefined;
}

/** Adds settings, chats and their usage. */
async function seedChats({ client, vault, now }: ChatSeedInput): Promise<void> {
  const provider = { kind: 'openai-compatible', name: 'Demo (scripted)', baseUrl: PROVIDER_URL };
  const patch = {
    gateway: { discover: false },
    tools: { policies: POLICIES },
    agents: DEMO_AGENTS,
    dreaming: { enabled: true },
    channels: { telegram: { enabled: true, botToken: '1:demo', apiBase: TELEGRAM_URL, agentId: 'main' } },
    providers: { [PROVIDER_CONFIG]: provider },
    chat: { model: `${PROVIDER_CONFIG}/scripted`, titles: false },
  };
  await client.call('config.patch', { patch });
  await vault.collection('projects').put(createDemoProject(now));
  const chats = createPastChats(now).map(toChatRecords);
  await Promise.all(chats.map(({ session, messages }) => vault.sessions.add(session, messages)));
  const sessionKeys = chats.map(({ session }) => session.key);
  await vault.usage.addStrict(createDemoUsage(now, sessionKeys));
}

/** Adds the data of the other pages. */
async function seedPages({ client, vault, workspace, now, picture }: PageSeedInput): Promise<void> {
  if (picture !== undefined) {
    const { session, messages } = toChatRecords(createPictureChat(now, picture));
    await vault.sessions.add(session, messages);
    // Tells open pages that the chat is there.
    await client.call('sessions.rename', { path: `${session.key}.jsonl`, title: session.title });
  }
  await vault.writeAll(await createDemoRecords(now, { origin: vault.origin, replica: vault.replica }));
  await workspace.write(CHECKLIST.path, CHECKLIST.before);
  const projectFiles = createVaultWorkspace({ vault, clock: systemClock }, getProjectWorkspace({ id: COUNT_PROJECT_ID }));
  await projectFiles.write(ROUTE_FILE.path, ROUTE_FILE.content);
  await seedKnowledge({ client, workspace, now });
  await seedDreams(workspace, vault.origin, now);
  await seedSchedules(client, vault, now);
  await seedDrawings(client, picture === undefined ? undefined : `data:image/png;base64,${picture}`);
  await workspace.write(COMPLETE_FILE, `${new Date(now).toISOString()}\n`);
}
