import 'fake-indexeddb/auto';
import { openDB, type IDBPDatabase } from 'idb';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import type { UsageRecord, Vault } from './vault-interface.ts';
import { toSessionKey, type MessageRecord, type RunRecord, type RunStep, type StepResult, type SessionRecord } from './chat-records.ts';
import type { ChangeRow } from './vault-schema.ts';
import { openVault, type VaultCloseReason, type OpenVaultOptions } from './open-vault.ts';

export const TEST_VAULT_KEY = toSessionKey('main', 'main');

let openDatabases = 0;

/** A vault in a separate database, closed at the end of its scope. */
export async function createTestVault(options: Partial<OpenVaultOptions> = {}) {
  const name = options.name ?? `storage-${++openDatabases}`;
  const clock = new FakeClock();
  const closed: VaultCloseReason[] = [];
  const vault = await openVault({ name, clock, origin: 'here', onclosed: (reason) => closed.push(reason), ...options });
  return { ...vault, vault, name, clock, closed, [Symbol.asyncDispose]: () => vault.close() };
}

/** Every row of every store except the change log, by store and key. */
export const readAllRows = async (name: string): Promise<Record<string, unknown>> => {
  const { changes: _changes, ...content } = await dumpDatabase(name);
  return content;
};

/** The change log's rows as `store key`, tombstones with a leading minus, in the order of their clock. */
export async function readChangeLog(name: string): Promise<string[]> {
  const db = await openDB(name);
  const rows = (await db.getAll('changes')) as ChangeRow[];
  db.close();
  rows.sort((a, b) => (a.clock < b.clock ? -1 : 1));
  return rows.map(({ store, key, deleted }) => `${deleted ? '-' : ''}${store} ${key}`);
}

/** The whole database. */
export async function dumpDatabase(name: string): Promise<Record<string, Record<string, unknown>>> {
  const db: IDBPDatabase = await openDB(name);
  const stores: Record<string, Record<string, unknown>> = {};
  for (const store of db.objectStoreNames) {
    const [keys, values] = await Promise.all([db.getAllKeys(store), db.getAll(store)]);
    stores[store] = Object.fromEntries(keys.map((key, index) => [String(key), values[index]]));
  }
  db.close();
  return stores;
}

export const newSession = (key = TEST_VAULT_KEY, change: Partial<SessionRecord> = {}): SessionRecord => {
  const [agentId = '', sessionId = ''] = key.split('/');
  const rest = { title: 'A title', createdAt: 1, updatedAt: 1, messageCount: 0, size: 0, preview: '', headId: null };
  return { key, agentId, sessionId, pinned: false, archived: false, folder: null, tags: [], ...rest, ...change };
};

export function newMessage(id: string, parent: MessageRecord | null, change: Partial<MessageRecord> = {}): MessageRecord {
  const position = { sessionKey: TEST_VAULT_KEY, parentId: parent?.id ?? null, depth: parent ? parent.depth + 1 : 0 };
  return { id, role: 'user', content: `text of ${id}`, timestamp: 1_000, ...position, ...change };
}

export const newRun = (id: string, userMessageId: string, change: Partial<RunRecord> = {}): RunRecord => ({
  ...{ id, sessionKey: TEST_VAULT_KEY, status: 'running', userMessageId, model: 'guide/guide', startedAt: 2_000, partial: '' },
  ...change,
});

const tokens: Usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };

export const newUsage = (id: string, change: Partial<UsageRecord> = {}): UsageRecord => ({
  ...{ id, at: 3_000, provider: 'guide', model: 'guide/guide', sessionKey: TEST_VAULT_KEY, principal: 'owner', usage: tokens },
  ...change,
});

/** Stores a question with an active run. */
export async function storeQuestion(vault: Vault, id: string, parent: MessageRecord | null = null): Promise<MessageRecord> {
  const message = newMessage(id, parent);
  await vault.runs.begin({ session: newSession(), message, run: newRun(`run-${id}`, id) });
  return message;
}

/** A step of the run that answers it: one call with a result, and one without. */
export const newStep = (questionId: string, change: Partial<RunStep> = {}): RunStep => ({
  runId: `run-${questionId}`,
  at: 1,
  said: {
    ...{ content: 'I look', timestamp: 2_500, model: 'guide/guide' },
    toolCalls: ['one', 'two'].map((id) => ({ id, tool: 'look', args: {} })),
  },
  results: new Map([['one', { content: 'seen', timestamp: 2_600 }]]),
  ...change,
});

/** Result of the second call of that step. */
export const newResult = (questionId: string, change: Partial<StepResult> = {}): StepResult => ({
  ...{ runId: `run-${questionId}`, at: 3, callId: 'two' },
  result: { content: 'seen too', timestamp: 2_700 },
  ...change,
});

/** Stores the answer, which ends the run. */
export async function storeAnswer(vault: Vault, question: MessageRecord): Promise<MessageRecord> {
  const reply = newMessage(`re-${question.id}`, question, { role: 'assistant' });
  await vault.runs.finish({ runId: `run-${question.id}`, status: 'done', endedAt: 4_000, messages: [reply] });
  return reply;
}
