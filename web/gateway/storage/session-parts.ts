import type { SessionRecord } from '../core/vault.ts';

/** The record of `sessions`: what a person says of a chat. */
export type EntryPart = Omit<SessionRecord, 'key' | 'agentId' | 'sessionId' | 'headId' | 'updatedAt' | 'messageCount' | 'size' | 'preview'>;
/** The record of `heads`: where its active branch ends. */
export type HeadPart = Pick<SessionRecord, 'headId' | 'updatedAt'>;

/** In the order of its names, so that it reads the same on every replica, whatever its row was made of. */
export function entryPart(session: SessionRecord): EntryPart {
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
  return Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1))) as unknown as EntryPart;
}

export const headPart = ({ headId, updatedAt }: SessionRecord): HeadPart => ({ headId, updatedAt });

/** Whether two records of JSON, made the same way, are equal. */
export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A row for a session of which only one part is known: the other one was deleted elsewhere, or is still to come. */
export function bareSession(key: string): SessionRecord {
  const [agentId = '', sessionId = ''] = key.split('/');
  const entry = { title: 'Recovered chat', createdAt: 0, pinned: false, archived: false, folder: null, tags: [] };
  return { key, agentId, sessionId, ...entry, headId: null, updatedAt: 0, messageCount: 0, size: 0, preview: '' };
}
