import type { GatewayClient } from '#shared/client/client.ts';
import type { RecalledMemory } from '#shared/rpc/record-schemas.ts';
import type { Vault } from '../../web/gateway/storage/vault-interface.ts';
import type { MessageRecord } from '../../web/gateway/storage/chat-records.ts';
import { waitFor } from './test-gateway.ts';

export const DAY = 24 * 3_600_000;
export const toDate = (at: number): string => new Date(at).toISOString().slice(0, 10);

let count = 0;

/** A chat as runs store it, with a memory recall before each reply. */
export async function storeRecalls(
  vault: Pick<Vault, 'sessions'>,
  {
    sessionId = `s${++count}`,
    agentId = 'main',
    turns,
  }: { sessionId?: string; agentId?: string; turns: { at: number; query: string; recalled: Partial<RecalledMemory>[] }[] },
): Promise<MessageRecord[]> {
  const key = `${agentId}/${sessionId}`;
  const messages: MessageRecord[] = [];
  const push = (fields: Pick<MessageRecord, 'role' | 'content' | 'timestamp'> & Partial<MessageRecord>): void => {
    const parentId = messages.at(-1)?.id ?? null;
    messages.push({ id: crypto.randomUUID(), sessionKey: key, parentId, depth: messages.length, ...fields });
  };
  for (const { at, query, recalled } of turns) {
    push({ role: 'user', content: query, timestamp: at });
    const memories = recalled.map((each) => ({
      id: 'm',
      text: '',
      source: '',
      at: null,
      why: { words: [], beside: [], timely: false },
      ...each,
    }));
    push({ role: 'assistant', content: 'Well.', timestamp: at + 1, recalled: memories });
  }
  const [first] = messages;
  const at = first?.timestamp ?? 0;
  const entry = {
    title: 'Chat',
    createdAt: at,
    updatedAt: at,
    messageCount: messages.length,
    preview: '',
    size: 1,
    pinned: false,
    archived: false,
  };
  await vault.sessions.add({ key, agentId, sessionId, ...entry, folder: null, tags: [], headId: messages.at(-1)?.id ?? null }, messages);
  return messages;
}

/** A note of a day, and chats in which it was recalled twice, so that it can be promoted. */
export async function seedDreamSources(
  { vault, api, now }: { vault: Pick<Vault, 'sessions'>; api: GatewayClient; now: number },
  sentences: readonly string[] = ['Miso is the cat of Ana.'],
): Promise<void> {
  const path = `memory/${toDate(now - 2 * DAY)}.md`;
  await api.call('workspace.write', { workspace: 'main', path, content: `# A day\n\n${sentences.map((each) => `- ${each}\n`).join('')}` });
  for (const [index, text] of sentences.entries()) {
    const recalled = [{ text, source: `${path}#L${index + 3}`, relevance: 0.9 }];
    await storeRecalls(vault, {
      turns: [
        { at: now - DAY, query: `What do you know of this: ${text}?`, recalled },
        { at: now - DAY / 2, query: `Would you tell me again about ${text}?`, recalled },
      ],
    });
  }
}

/** Runs dreaming to its end and returns the run. */
export async function runDreaming(api: GatewayClient, params: { phase?: 'LIGHT' | 'REM' | 'DEEP' } = {}) {
  const { run } = await api.call('dreaming.run', params);
  const find = async () => (await api.call('dreaming.history', {})).runs.find(({ id }) => id === run.id);
  await waitFor(async () => (await find())?.state !== 'running');
  const found = await find();
  if (!found) throw new Error('The run is in no history');
  return found;
}
