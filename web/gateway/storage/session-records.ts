import type { SessionRecord } from './chat-records.ts';

/** The record in `sessions`: fields set by a person. */
export type SessionFields = Omit<
  SessionRecord,
  'key' | 'agentId' | 'sessionId' | 'headId' | 'updatedAt' | 'messageCount' | 'size' | 'preview'
>;
/** The record in `heads`: the end of the active branch. */
export type SessionHead = Pick<SessionRecord, 'headId' | 'updatedAt'>;

/** With members in a fixed order, so that it serializes the same on every replica. */
export function toSessionFields(session: SessionRecord): SessionFields {
  const {
    key: _key,
    agentId: _agent,
    sessionId: _id,
    headId: _head,
    updatedAt: _at,
    messageCount: _count,
    size: _size,
    preview: _,
    ...entry
  } = session;
  return Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1))) as unknown as SessionFields;
}

export const toSessionHead = ({ headId, updatedAt }: SessionRecord): SessionHead => ({ headId, updatedAt });

/** Whether two JSON values, created in the same way, are equal. */
export const isSameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A row for a session of which only one part is known: the other one was deleted elsewhere, or has not arrived yet. */
export function createBareSession(key: string): SessionRecord {
  const [agentId = '', sessionId = ''] = key.split('/');
  const entry = { title: 'Recovered chat', createdAt: 0, pinned: false, archived: false, folder: null, tags: [] };
  return { key, agentId, sessionId, ...entry, headId: null, updatedAt: 0, messageCount: 0, size: 0, preview: '' };
}
