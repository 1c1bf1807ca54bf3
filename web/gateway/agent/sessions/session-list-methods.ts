import { sessionListContracts } from '#shared/rpc/methods/session-list-contracts.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Runs } from '../runs/runs.ts';
import { toSessionEntry, parseSessionPath } from '../../storage/session-views.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { SessionRecord } from '../../storage/chat-records.ts';

interface SessionFilters {
  agentId?: string | undefined;
  folder?: string | undefined;
  tag?: string | undefined;
  projectId?: string | undefined;
  archived?: boolean | undefined;
  pinned?: boolean | undefined;
}

export const matchesFilters = (session: SessionRecord, { agentId, folder, tag, projectId, archived, pinned }: SessionFilters): boolean =>
  (agentId === undefined || session.agentId === agentId) &&
  (folder === undefined || session.folder === folder || session.folder?.startsWith(`${folder}/`) === true) &&
  (tag === undefined || session.tags.includes(tag)) &&
  (projectId === undefined || session.projectId === projectId) &&
  (archived === undefined || session.archived === archived) &&
  (pinned === undefined || session.pinned === pinned);

/** Whether a session comes after the cursor in the order of the list. */
function isAfterCursor({ updatedAt, key }: SessionRecord, cursor: string): boolean {
  const [lastUpdatedAt = '', lastKey = ''] = cursor.split(' ');
  return updatedAt < Number(lastUpdatedAt) || (updatedAt === Number(lastUpdatedAt) && key > lastKey);
}

export const sessionListMethods = defineMethods(sessionListContracts)(({ runs, vault }: { runs: Runs; vault: Vault }) => ({
  'sessions.list': async ({ limit, cursor, paths, ...filters }) => {
    const only = paths && new Set(paths.map(parseSessionPath));
    const all = await vault.sessions.list();
    // Sub-agents belong to the chats that they work for.
    const matching = all.filter((record) => matchesFilters(record, filters) && (only ? only.has(record.key) : !record.subAgent));
    const from = cursor === undefined ? 0 : matching.findIndex((record) => isAfterCursor(record, cursor));
    const page = from < 0 ? [] : matching.slice(from, limit === undefined ? undefined : from + limit);
    const last = page.at(-1);
    const more = last !== undefined && from + page.length < matching.length;
    return {
      sessions: page.map((record) => toSessionEntry(record, runs.isRunning(record.key))),
      total: matching.length,
      cursor: more ? `${last.updatedAt} ${last.key}` : null,
    };
  },
}));
