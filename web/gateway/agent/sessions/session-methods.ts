import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { SessionEntry } from '#shared/rpc/record-schemas.ts';
import { type RecallState, sessionContracts } from '#shared/rpc/methods/session-contracts.ts';
import { type Agents } from '../agents.ts';
import { MAIN_AGENT_ID } from '../../config/main-agent.ts';
import type { Clock } from '#shared/async/clock.ts';
import { compactSession, type CompactSessionDeps } from '../compaction/compact-session.ts';
import { defineMethods } from '../../system/methods.ts';
import { requirePerson } from '../../system/person.ts';
import type { EventBus } from '../../system/event-bus.ts';
import { getRecallState } from '../knowledge/recall/recall-state.ts';
import type { Runs } from '../runs/runs.ts';
import {
  toSessionEntry,
  toHistory,
  parseSessionPath,
  MAX_MESSAGE_BYTES,
  createSession,
  createSessionChangedEvent,
} from '../../storage/session-views.ts';
import type { Settings } from '../../config/settings-schema.ts';
import { exportChat } from './export-chat.ts';
import { readImportedChat } from './read-imported-chat.ts';
import { getActiveBranch, type CopiedMessage, copyMessages } from './session-transfer.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { type SessionRecord, toSessionKey } from '../../storage/chat-records.ts';
import type { Lazy } from '../../system/modules.ts';
import { listSubAgentSessions } from '../sub-agents/sub-agent-sessions.ts';
import type { SubAgents } from '../sub-agents/sub-agents.ts';
import type { Trash } from '../trash/trash.ts';
import { withStoredSources } from '../trust/content-sources.ts';
import { matchesFilters } from './session-list-methods.ts';

interface SessionMethodsDeps extends Pick<CompactSessionDeps, 'models' | 'compactor'> {
  runs: Runs;
  vault: Vault;
  hub: EventBus;
  clock: Clock;
  agents: Agents;
  settings(): Settings;
  trash: Lazy<Trash>;
  subAgents: Lazy<SubAgents>;
}

export const sessionMethods = defineMethods(sessionContracts)(({
  runs,
  vault,
  hub,
  clock,
  agents,
  models,
  compactor,
  settings,
  trash,
  subAgents,
}: SessionMethodsDeps) => {
  const notifyChange = (key: string, deleted = false): void => hub.emit(createSessionChangedEvent(key, deleted), key);
  const editSession = async (path: string, change: Parameters<Vault['sessions']['update']>[1]): Promise<{ session: SessionEntry }> => {
    const key = parseSessionPath(path);
    const record = await vault.sessions.update(key, change);
    if (!record) throw new RpcError('NOT_FOUND', `No session with path "${path}".`);
    notifyChange(key);
    return { session: toSessionEntry(record, runs.isRunning(key)) };
  };
  const readSession = async (path: string) => {
    const key = parseSessionPath(path);
    const session = await vault.sessions.get(key);
    if (!session) throw new RpcError('NOT_FOUND', `No session with path "${path}".`);
    return { session, messages: await vault.messages.listAll(key) };
  };
  /** Moves a session to the trash. Runs are cleared first, and at once: a message that follows starts the session anew. */
  const moveToTrash = async (key: string, options?: { keepsSession: boolean }): Promise<{ trashId?: string }> => {
    const trashId = await runs.clear(key, async () => (await trash.load()).moveSession(key, options));
    if (trashId === undefined) throw new RpcError('NOT_FOUND', `No session with path "${key}.jsonl".`);
    return trashId === null ? {} : { trashId };
  };
  /** Creates a session from these messages, with new ids. */
  const addSession = async (record: SessionRecord, messages: readonly CopiedMessage[]): Promise<{ session: SessionEntry }> => {
    const key = toSessionKey(record.agentId, record.sessionId);
    const session = { ...record, key };
    if (!(await vault.sessions.add(session, copyMessages(messages, session)))) {
      throw new RpcError('ALREADY_EXISTS', `A session with id "${record.sessionId}" already exists.`);
    }
    notifyChange(key);
    return { session: toSessionEntry((await vault.sessions.get(key)) ?? session, false) };
  };
  /** A session, or a new record for an agent's main session that has not begun, or for any with `create`. */
  const getOrCreateSession = async (path: string, create = false): Promise<SessionRecord> => {
    const key = parseSessionPath(path);
    const [agentId = '', sessionId = ''] = key.split('/');
    const session = await vault.sessions.get(key);
    if (!session && sessionId !== MAIN_AGENT_ID && !create) throw new RpcError('NOT_FOUND', `No session with path "${path}".`);
    agents.get(agentId);
    return session ?? createSession(agentId, sessionId, '', clock.now());
  };
  const recallState = (session: SessionRecord): RecallState => ({
    path: `${session.key}.jsonl`,
    enabled: session.recall !== false,
    ...getRecallState(agents.get(session.agentId), session, settings()),
  });
  return {
    'sessions.search': async ({ query, limit, cursor, ...filters }) => {
      const options = { limit, offset: Number(cursor ?? 0), accepts: (session: SessionRecord) => matchesFilters(session, filters) };
      const { results, total, next, complete } = await vault.search.sessions(query, options);
      return {
        results: results.map(({ session, ...result }) => ({ ...result, session: toSessionEntry(session, runs.isRunning(session.key)) })),
        total,
        cursor: next === null ? null : String(next),
        ...(complete ? {} : { incomplete: true }),
      };
    },

    'sessions.preview': async ({ path, limit }, { follow }) => {
      const key = parseSessionPath(path);
      follow(key);
      if (!(await vault.sessions.get(key))) throw new RpcError('NOT_FOUND', `No session with path "${path}".`);
      return { messages: toHistory(await vault.messages.branch(key, { limit, most: MAX_MESSAGE_BYTES })).messages };
    },

    'sessions.subAgents': async ({ path }) => ({ subAgents: await (await subAgents.load()).list(path) }),

    'sessions.delete': async ({ path }) => {
      const key = parseSessionPath(path);
      const trashId = await moveToTrash(key);
      notifyChange(key, true);
      return { deleted: true, ...trashId };
    },

    'sessions.reset': async ({ path }) => {
      const key = parseSessionPath(path);
      const trashId = await moveToTrash(key, { keepsSession: true });
      notifyChange(key);
      return { reset: true, ...trashId };
    },

    'sessions.rename': ({ path, title }) => editSession(path, { title }),
    'sessions.pin': ({ path, pinned }) => editSession(path, { pinned }),
    'sessions.archive': ({ path, archived }) => editSession(path, { archived }),
    'sessions.move': ({ path, folder }) => editSession(path, { folder }),
    'sessions.tag': ({ path, tags }) => editSession(path, { tags: [...new Set(tags)] }),

    'sessions.recall': async ({ path }) => recallState(await getOrCreateSession(path)),

    'sessions.setRecall': async ({ path, enabled, create }) => {
      const session = await getOrCreateSession(path, create);
      if (recallState(session).enabled === enabled) return recallState(session);
      const { key } = session;
      const changedTo = { ...session, recall: enabled };
      if (!(await vault.sessions.update(key, { recall: enabled }))) await vault.sessions.add(changedTo, []);
      notifyChange(key);
      return recallState(changedTo);
    },

    'sessions.setParameters': async ({ path, parameters, create }, caller) => {
      // Instructions would speak for the owner in later runs.
      if (parameters?.instructions !== undefined) requirePerson(caller, 'set the instructions of a session');
      // No effect if it exists.
      await vault.sessions.add(await getOrCreateSession(path, create), []);
      return editSession(path, { parameters });
    },

    'sessions.setCollections': async ({ path, collectionIds, create }) => {
      await vault.sessions.add(await getOrCreateSession(path, create), []);
      return editSession(path, { collections: [...new Set(collectionIds)] });
    },

    'sessions.setWeb': async ({ path, enabled, create, tools }) => {
      await vault.sessions.add(await getOrCreateSession(path, create), []);
      return editSession(path, { [tools]: enabled });
    },

    'sessions.compact': (params, call) => compactSession(params, call, { vault, agents, models, compactor }),

    'sessions.fork': async ({ path, messageId, sessionId = crypto.randomUUID() }) => {
      const { session, messages } = await readSession(path);
      const branch = getActiveBranch(messages, session.headId);
      const end = messageId === undefined ? branch.length : branch.findIndex(({ id }) => id === messageId) + 1;
      if (messageId !== undefined && end === 0) throw new RpcError('NOT_FOUND', `No message with id "${messageId}" in the active branch.`);
      const now = clock.now();
      // A copy of a sub-agent's session is a chat of its own.
      const { subAgent: _, ...own } = session;
      return addSession(
        { ...own, sessionId, pinned: false, archived: false, createdAt: now, updatedAt: now },
        // Context blocks and provider state are kept, so that prompts of the new session start like those of this one.
        branch.slice(0, end).map(({ runId: _run, ...message }) => withStoredSources(message)),
      );
    },

    'sessions.export': async ({ path, format, cursor }) => {
      const { session, messages } = await readSession(path);
      const below = format === 'jsonl' ? [] : await listSubAgentSessions(vault, [session.key]);
      const subAgents = await Promise.all(
        below.map(async ({ key, headId, title }) => ({ title, messages: getActiveBranch(await vault.messages.listAll(key), headId) })),
      );
      const [end, mimeType] = format === 'jsonl' ? ['jsonl', 'application/jsonl'] : ['md', 'text/markdown'];
      return { filename: `${session.sessionId}.${end}`, mimeType, ...exportChat(session, messages, format, { cursor, subAgents }) };
    },

    'sessions.import': async ({ content, title, agentId, sessionId = crypto.randomUUID() }) => {
      agents.get(agentId);
      const { session, messages } = readImportedChat({ content, title, agentId, sessionId }, clock.now());
      return addSession(session, messages);
    },
  };
});
