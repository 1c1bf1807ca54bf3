import { randomUUID } from 'node:crypto';
import type { MessageRecord, RunRecord, SessionRecord } from '../../../web/gateway/storage/chat-records.ts';
import type { SyncRecord } from '../../../shared/sync/record.ts';
import { openJournal } from '../../../bridge/journal/open-journal.ts';
import { loadVaultKey } from '../../../bridge/journal/vault-key.ts';
import { HybridClock } from '../../../shared/sync/hybrid-clock.ts';
import { SCHEMA_VERSION } from '../../../shared/link/hello.ts';

const SESSION_COUNT = 100;
/** Sessions written alternately, like by a user who switches between chats. */
const CONCURRENT_SESSIONS = 10;
const MESSAGE_COUNT = 970;
/** Messages of one run. */
const MESSAGES_PER_RUN = 70;
const BATCH_SIZE = 1_000;
const ORIGIN = 'writer';
const WORDS = 'the gateway keeps what was said and gives it back to whoever asks for it later on some other machine'.split(' ');

/** Creates a text of about 300 characters without repetition. */
function createText(): string {
  let line = '';
  while (line.length < 290) line += `${WORDS[Math.floor(Math.random() * WORDS.length)]} ${Math.floor(Math.random() * 1000)} `;
  return line;
}

/** Creates records of a year of use: 100 sessions, 97,000 messages, and the runs and usage of some, ordered by last change. */
function* createRecords(): Generator<SyncRecord> {
  let now = Date.now() - 365 * 24 * 3_600_000;
  const clock = new HybridClock(() => now, ORIGIN);
  const record = (store: SyncRecord['store'], key: string, value: unknown, fence?: number): SyncRecord => {
    now += 300;
    return { store, key, clock: clock.tick(), seal: 'none', payload: JSON.stringify(value), ...(fence === undefined ? {} : { fence }) };
  };
  for (let first = 0; first < SESSION_COUNT; first += CONCURRENT_SESSIONS) {
    const heads = new Map<string, string | null>();
    for (let i = first; i < first + CONCURRENT_SESSIONS; i++) heads.set(`main/s${i}`, null);
    for (let depth = 0; depth < MESSAGE_COUNT; depth++) {
      for (const [sessionKey, parentId] of heads) {
        const id = randomUUID();
        const runId = randomUUID();
        const message: MessageRecord = {
          id,
          sessionKey,
          parentId,
          depth,
          role: depth % 2 ? 'assistant' : 'user',
          content: createText(),
          timestamp: now,
        };
        heads.set(sessionKey, id);
        yield record('messages', id, message);
        if (depth % MESSAGES_PER_RUN > 0) continue;
        const run: RunRecord = {
          ...{ id: runId, sessionKey, status: 'done', userMessageId: id, model: 'bench/short', startedAt: now, endedAt: now, partial: '' },
          ...{ replica: ORIGIN, executor: ORIGIN, fence: 1 },
        };
        yield record('runs', runId, run, 1);
        const spent = { id: runId, at: now, provider: 'bench', model: 'short', sessionKey, principal: 'owner' };
        const usage = { inputTokens: 100, outputTokens: 100, totalTokens: 200 };
        yield record('usage', runId, { id: runId, until: now, records: [{ ...spent, usage }] });
      }
    }
    for (const [key, headId] of heads) {
      yield record('sessions', key, { archived: false, createdAt: now, folder: null, pinned: false, tags: [], title: `Chat ${key}` });
      yield record('heads', key, { headId, updatedAt: now } satisfies Pick<SessionRecord, 'headId' | 'updatedAt'>);
    }
  }
}

/** Writes the journal of a home directory in which no gateway runs. Resolves with the number of records and bytes. */
export async function fillJournal(home: string): Promise<{ records: number; bytes: number }> {
  await using journal = await openJournal({ dir: home, vaultKey: await loadVaultKey(home) });
  await journal.open({ origin: ORIGIN, schema: SCHEMA_VERSION, position: null });
  let batch: SyncRecord[] = [];
  for (const record of createRecords()) {
    if (batch.push(record) < BATCH_SIZE) continue;
    await journal.push(batch, ORIGIN);
    batch = [];
  }
  await journal.push(batch, ORIGIN);
  const { records: count, bytes } = await journal.info();
  return { records: count, bytes };
}
