import { getDrawingStage } from './drawing-stage.ts';
import type { SessionRecord } from './chat-records.ts';
import { BLOB_STORES, deleteUnusedBlobs } from './blob-store.ts';
import type { DrawingChange, DrawingRecord } from './records/drawing-record.ts';
import type { TrashedChat, TrashedDrawing, TrashedRecord, TrashItem } from './records/trash-item.ts';
import { deleteRunProgress } from './run-progress.ts';
import { countMessages } from './session-rows.ts';
import { clearMessages } from './session-totals.ts';
import type { Transactions, VaultWrite } from './transactions.ts';
import { getSessionRange, type StoreName, type VaultSchema } from './vault-schema.ts';

const TRASH_STORES: StoreName[] = ['trash', 'trashRecords'];
const CHAT_STORES: StoreName[] = [...TRASH_STORES, 'sessions', 'messages', 'runs', 'partials', 'runSteps', 'blobs'];
const DRAWING_STORES: StoreName[] = [...TRASH_STORES, 'drawings', 'drawingChanges'];

interface MoveSessionOptions {
  keepsSession: boolean;
  /** Keys of the sessions of its sub-agents. */
  subAgentKeys?: readonly string[];
}

/** Deleted items that can be restored. Each change is strict and moves everything or nothing. */
export interface TrashStore {
  list(): Promise<TrashItem[]>;
  get(id: string): Promise<TrashItem | undefined>;
  add(item: TrashItem): Promise<void>;
  /**
   * Moves a session's messages and ended runs, and the session itself unless `keepsSession`, with the sessions of its sub-agents. Active
   * runs stay, so that their end can still be stored. False if there is no session of this key.
   */
  moveSession(key: string, item: Pick<TrashedChat, 'id' | 'deletedAt'>, options?: MoveSessionOptions): Promise<boolean>;
  /** Restores a chat. If its key is in use again, it gets the id `sessionId`, and its messages get new ids. */
  restoreSession(item: TrashedChat, sessionId: string): Promise<SessionRecord>;
  /** Moves a drawing and its changes. False if there is no such drawing. */
  moveDrawing(id: string, item: Pick<TrashedDrawing, 'id' | 'deletedAt' | 'outside'>): Promise<boolean>;
  restoreDrawing(item: TrashedDrawing): Promise<void>;
  /** Deletes items for good. Returns how many existed. */
  remove(ids: readonly string[]): Promise<number>;
}

/** Creates the trash of a vault. */
export function createTrashStore({ transactions, clock }: { transactions: Transactions; clock: { now(): number } }): TrashStore {
  return {
    list: () => transactions.read(['trash'], (tx) => tx.objectStore('trash').getAll()),

    get: (id) => transactions.read(['trash'], (tx) => tx.objectStore('trash').get(id)),

    add: (item) => transactions.write(['trash'], ({ put }) => put('trash', item.id, item)),

    moveSession: (key, { id, deletedAt }, { keepsSession, subAgentKeys = [] } = { keepsSession: false }) =>
      transactions.write(CHAT_STORES, async (write) => {
        const { tx, put, remove, putSession, removeSession } = write;
        const [session, ...subAgents] = await Promise.all([key, ...subAgentKeys].map((each) => tx.objectStore('sessions').get(each)));
        if (!session) return false;
        const found = await Promise.all(
          [key, ...subAgentKeys].map(async (each) => ({
            messages: await tx.objectStore('messages').index('branch').getAll(getSessionRange(each)),
            runs: await tx.objectStore('runs').index('session').getAll(each),
          })),
        );
        const messages = found.flatMap((content) => content.messages);
        const runs = found.flatMap((content) => content.runs);
        const movedSubAgents = subAgents.filter((subAgent) => subAgent !== undefined);
        const ended = runs.filter(({ endedAt }) => endedAt !== undefined);
        for (const run of runs) if (run.endedAt === undefined) deleteRunProgress(tx, run.id);
        await Promise.all([
          put('trash', id, {
            id,
            kind: 'chat',
            title: session.title,
            deletedAt,
            session,
            ...(movedSubAgents.length > 0 ? { subAgents: movedSubAgents } : {}),
          }),
          ...movedSubAgents.map((subAgent) => removeSession(subAgent.key)),
          ...messages.flatMap((message) => [moveRecord(write, id, 'messages', message.id, message), remove('messages', message.id)]),
          ...ended.flatMap((run) => [moveRecord(write, id, 'runs', run.id, run), remove('runs', run.id, run.fence)]),
          keepsSession ? putSession({ ...clearMessages(session), updatedAt: clock.now() }, session) : removeSession(key),
        ]);
        return true;
      }),

    restoreSession: ({ id, session: stored, subAgents = [] }, sessionId) =>
      transactions.write(CHAT_STORES, async (write) => {
        const { tx, put, putSession } = write;
        const isFree = (await tx.objectStore('sessions').getKey(stored.key)) === undefined;
        const records = await takeRecords(write, id);
        const allMessages = pickRecords(records, 'messages');
        const messages = allMessages.filter(({ sessionKey }) => sessionKey === stored.key);
        const belowMessages = allMessages.filter(({ sessionKey }) => sessionKey !== stored.key);
        let session = stored;
        if (isFree) {
          await Promise.all([
            ...messages.map((message) => put('messages', message.id, message)),
            ...pickRecords(records, 'runs').map((run) => put('runs', run.id, run, run.fence)),
          ]);
        } else {
          session = { ...stored, sessionId, key: `${stored.agentId}/${sessionId}`, pinned: false };
          const ids = new Map(messages.map((message) => [message.id, crypto.randomUUID()]));
          const toNewId = (old: string | null): string | null => (old === null ? null : (ids.get(old) ?? null));
          session.headId = toNewId(stored.headId);
          await Promise.all(
            messages.map((message) => {
              const copy = {
                ...message,
                id: ids.get(message.id) ?? message.id,
                parentId: toNewId(message.parentId),
                sessionKey: session.key,
              };
              return put('messages', copy.id, copy);
            }),
          );
        }
        const restored = { ...session, ...(await countMessages(tx, session.key)) };
        await Promise.all([
          putSession(restored, undefined),
          ...belowMessages.map((message) => put('messages', message.id, message)),
          ...subAgents.map((subAgent) => putSession(withParent(subAgent, stored.key, session.key), undefined)),
        ]);
        return restored;
      }),

    moveDrawing: (drawingId, { id, deletedAt, outside }) =>
      transactions.write(DRAWING_STORES, async (write) => {
        const { tx, put, remove } = write;
        const drawing = await tx.objectStore('drawings').get(drawingId);
        if (!drawing) return false;
        const changes = await tx.objectStore('drawingChanges').getAll(IDBKeyRange.bound(`${drawingId}/`, `${drawingId}/\uffff`));
        await Promise.all([
          put('trash', id, { id, kind: 'drawing', title: drawing.title, deletedAt, drawing, outside }),
          remove('drawings', drawingId, getDrawingStage(drawing) + 1),
          ...changes.flatMap((change) => [
            moveRecord(write, id, 'drawingChanges', change.key, change),
            remove('drawingChanges', change.key),
          ]),
        ]);
        return true;
      }),

    restoreDrawing: ({ id, drawing }) =>
      transactions.write(DRAWING_STORES, async (write) => {
        const records = await takeRecords(write, id);
        const restored: DrawingRecord = { ...drawing, restored: (drawing.restored ?? 0) + 1 };
        await Promise.all([
          write.put('drawings', restored.id, restored, getDrawingStage(restored)),
          ...pickRecords(records, 'drawingChanges').map((change) => write.put('drawingChanges', change.key, change)),
        ]);
      }),

    remove: (ids) =>
      transactions.write(['trash', ...BLOB_STORES], async (write) => {
        let count = 0;
        for (const id of ids) {
          if ((await write.tx.objectStore('trash').getKey(id)) === undefined) continue;
          count++;
          const records = await takeRecords(write, id);
          await deleteUnusedBlobs(
            write.tx,
            records.flatMap(({ blobs = [] }) => blobs),
          );
        }
        return count;
      }),
  };
}

/** The session of a sub-agent after its chat got another key. */
const withParent = (session: SessionRecord, before: string, now: string): SessionRecord =>
  session.subAgent?.parentPath === `${before}.jsonl`
    ? { ...session, subAgent: { ...session.subAgent, parentPath: `${now}.jsonl` } }
    : session;

interface MovedRecords {
  messages: VaultSchema['messages']['value'];
  runs: VaultSchema['runs']['value'];
  drawingChanges: DrawingChange;
}

function moveRecord<Name extends keyof MovedRecords>(
  { put }: VaultWrite,
  itemId: string,
  store: Name,
  recordKey: string,
  record: MovedRecords[Name],
): Promise<void> {
  const key = `${itemId}/${store}/${recordKey}`;
  return put('trashRecords', key, { key, store, record, ...('blobs' in record && record.blobs ? { blobs: record.blobs } : {}) });
}

/** Removes an item with its records from the trash, and returns the records. */
async function takeRecords({ tx, remove }: VaultWrite, itemId: string): Promise<TrashedRecord[]> {
  const records = await tx.objectStore('trashRecords').getAll(IDBKeyRange.bound(`${itemId}/`, `${itemId}/\uffff`));
  await Promise.all([remove('trash', itemId), ...records.map(({ key }) => remove('trashRecords', key))]);
  return records;
}

const pickRecords = <Name extends keyof MovedRecords>(records: readonly TrashedRecord[], name: Name): MovedRecords[Name][] =>
  records.filter(({ store }) => store === name).map(({ record }) => record as MovedRecords[Name]);
