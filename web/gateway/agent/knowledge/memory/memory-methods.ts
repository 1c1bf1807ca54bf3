import { RpcError } from '#shared/rpc/rpc-error.ts';
import { memoryContracts, type MemoryEntry, type RecallHistoryEntry } from '#shared/rpc/methods/memory-contracts.ts';
import type { ProvenanceAuthor } from '../../../storage/records/provenance-record.ts';
import { type Agents, getWorkspaceName } from '../../agents.ts';
import { isPerson } from '../../../system/person.ts';
import { getAgentModels, type CompletionDeps } from '../../compaction/model-completion.ts';
import { defineMethods } from '../../../system/methods.ts';
import { createLocalTime } from '#shared/local-time.ts';
import { findOwnerWorkspace } from './find-owner-workspace.ts';
import { labelMemory } from './label-memory.ts';
import type { AgentMemories } from './agent-memories.ts';
import type { LongTermMemories } from './long-term-memories.ts';
import { toMemoryPage } from '../../../knowledge/memory/memory-page.ts';
import { toNotesPath, isDate } from '../../../knowledge/memory/layout.ts';
import { toMemoryId } from '../../../knowledge/memory/index/index-entry.ts';
import { parsePreference } from '../../../knowledge/memory/long-term-file.ts';
import type { MemoryManager } from '../../../knowledge/memory/memory-manager.ts';
import { sanitizeMessage } from '../../runs/sanitize.ts';
import { tryInOrder } from '../../small-work/small-models.ts';
import { toPlainText } from '../../../storage/session-views.ts';
import type { ContentLabels } from '../../trust/content-labels.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import type { RecallReply } from '../../../storage/chat-records.ts';
import type { Trash } from '../../trash/trash.ts';
import type { Provenance } from '../provenance/provenance.ts';
import { recordDay } from '../provenance/record-day.ts';
import type { Lazy } from '../../../system/modules.ts';

interface MemoryMethodsDeps extends CompletionDeps {
  vault: Pick<Vault, 'messages' | 'usage' | 'collection'>;
  agents: Agents;
  memories: Lazy<AgentMemories>;
  longTermMemories: Lazy<LongTermMemories>;
  labels: ContentLabels;
  trash: Lazy<Trash>;
  provenance: Lazy<Provenance>;
  timeZone(): string;
}

/** Maximum characters of the question shown with recalled memories. */
const MAX_QUESTION_CHARS = 300;

export const memoryMethods = defineMethods(memoryContracts)(({
  vault,
  clock,
  agents,
  memories,
  longTermMemories,
  labels,
  models,
  silenceMs,
  findSmallModel,
  trash,
  provenance,
  timeZone,
}: MemoryMethodsDeps) => {
  const openMemory = async (agentId: string): Promise<MemoryManager> => (await memories.load()).getManager(agentId);
  const listMemories = async (agentId: string): Promise<readonly MemoryEntry[]> => (await longTermMemories.load()).list(agentId);
  const findWorkspace = (owner: { agentId: string; projectId?: string | undefined }): Promise<string> =>
    findOwnerWorkspace({ agents, vault }, owner);
  const toAuthor = (principal: string): ProvenanceAuthor => (isPerson(principal) ? 'person' : 'program');
  const requireMemory = async (workspace: string, id: string): Promise<MemoryEntry> => {
    const found = (await (await longTermMemories.load()).listIn(workspace)).find((memory) => memory.id === id);
    if (!found) throw new RpcError('NOT_FOUND', `No memory with id "${id}".`);
    return found;
  };

  return {
    'memory.list': async ({ agentId, projectId, ...query }) =>
      toMemoryPage(await (await longTermMemories.load()).listIn(await findWorkspace({ agentId, projectId })), query),

    'memory.search': async ({ query, limit, ...owner }) => {
      const manager = await (await memories.load()).openWorkspace(await findWorkspace(owner));
      const started = clock.monotonic();
      const results = await manager.searchMemory(query, limit);
      return {
        results: results.map(({ sessionKey, ...found }) => ({
          ...found,
          ...(sessionKey === undefined ? {} : { agentId: getAgentId(sessionKey), sessionId: getSessionId(sessionKey) }),
        })),
        elapsedMs: clock.monotonic() - started,
      };
    },

    'memory.add': async ({ text, category, createdAt, outside = [], ...owner }, { principal }) => {
      const workspace = await findWorkspace(owner);
      await labelMemory({ labels, longTermMemories }, workspace, sanitizeText(text), outside);
      const { added, ...entry } = await (
        await (await memories.load()).openWorkspace(workspace)
      ).addMemory(sanitizeText(text), category, createdAt);
      if (added) {
        const by = outside.length > 0 ? 'import' : toAuthor(principal);
        const version = { text: entry.text, by, createdAt: entry.createdAt } as const;
        await (await provenance.load()).record({ workspace, kind: 'memory', name: entry.id }, version);
      }
      // An entry saved by a person needs no review. A restored one keeps its label.
      if (isPerson(principal) && outside.length === 0) await labels.remove('memory', `${workspace}/${entry.id}`);
      return { memory: entry, added };
    },

    'memory.update': async ({ id, text, category, ...owner }, { principal }) => {
      const workspace = await findWorkspace(owner);
      if (text !== undefined && !isPerson(principal)) {
        await labels.add(
          'memory',
          `${workspace}/${toMemoryId(sanitizeText(text))}`,
          await labels.getSources('memory', `${workspace}/${id}`),
        );
      }
      const changed = await (
        await (await memories.load()).openWorkspace(workspace)
      ).updateMemory(id, { text: text === undefined ? undefined : sanitizeText(text), category });
      if (!changed) throw new RpcError('NOT_FOUND', `No memory with id "${id}".`);
      const version = { text: changed.text, by: toAuthor(principal), createdAt: changed.createdAt };
      await (
        await provenance.load()
      ).rename({ workspace, kind: 'memory', name: id }, { workspace, kind: 'memory', name: changed.id }, version);
      return { memory: changed };
    },

    'memory.delete': async ({ id, ...owner }) => {
      const { agentId, projectId } = owner;
      const workspace = await findWorkspace(owner);
      const memory = await requireMemory(workspace, id);
      const { text, category, createdAt } = memory;
      const outside = [...(await labels.getSources('memory', `${workspace}/${id}`))];
      const manager = await (await memories.load()).openWorkspace(workspace);
      const location = projectId === undefined ? {} : { workspace };
      const item = { kind: 'memory', title: text, agentId, ...location, text, category, createdAt, outside } as const;
      return { deleted: true, memory, trashId: await (await trash.load()).store(item, () => manager.forget(id)) };
    },

    'memory.forget': async ({ id, ...owner }) => {
      const workspace = await findWorkspace(owner);
      const forgotten = await requireMemory(workspace, id);
      const outside = await labels.getSources('memory', `${workspace}/${id}`);
      await (await (await memories.load()).openWorkspace(workspace)).forget(id);
      return { forgotten, ...(outside.length > 0 ? { outside: [...outside] } : {}) };
    },

    'memory.preferences': async ({ agentId }) => ({
      preferences: (await listMemories(agentId)).flatMap(({ id, createdAt, ...memory }) => {
        const preference = parsePreference(memory);
        return preference ? { id, createdAt, ...preference } : [];
      }),
    }),

    'memory.setPreference': async ({ agentId, key, value }, { principal }) => {
      const { replaced, ...entry } = await (
        await openMemory(agentId)
      ).setPreference(sanitizeText(key, 'key'), sanitizeText(value, 'value'));
      const workspace = getWorkspaceName(agents.get(agentId));
      if (isPerson(principal)) await labels.remove('memory', `${workspace}/${entry.id}`);
      const version = { text: entry.text, by: toAuthor(principal), createdAt: entry.createdAt };
      await (await provenance.load()).record({ workspace, kind: 'memory', name: entry.id }, version);
      return { memory: entry, replaced };
    },

    'memory.stats': async ({ agentId }) => (await openMemory(agentId)).getStats(),

    'memory.days': async ({ agentId }) => ({ days: await (await openMemory(agentId)).getDays() }),

    'memory.day': async ({ agentId, date }) => {
      const notes = (await (await openMemory(agentId)).getDay(requireDate(date))) ?? null;
      const time = createLocalTime(timeZone());
      const ofDate = (await listMemories(agentId)).filter(({ createdAt }) => time(createdAt).date === date);
      const origins = await labels.getLinkOrigins('file', `${getWorkspaceName(agents.get(agentId))}/${toNotesPath(requireDate(date))}`);
      return { date, notes, memories: ofDate, ...origins };
    },

    'memory.summariseDay': async ({ agentId, date }, { signal, principal }) => {
      const manager = await openMemory(agentId);
      const deps = { vault, clock, models, findSmallModel, ...(silenceMs ? { silenceMs } : {}) };
      const [first, ...others] = await getAgentModels(agents.get(agentId), principal, 'summary', deps);
      const path = await tryInOrder([first, ...others], signal, (model) => manager.summariseDay(requireDate(date), { signal, model }));
      if (path !== undefined) await recordDay({ memories, provenance, timeZone }, agentId, date);
      return { notes: path === undefined ? null : ((await manager.getDay(date)) ?? null) };
    },

    'memory.recalled': async ({ agentId, before = Infinity, limit }) => {
      const workspace = getWorkspaceName(agents.get(agentId));
      const sharing = new Set(agents.list().flatMap((agent) => (getWorkspaceName(agent) === workspace ? agent.id : [])));
      const accepts = (key: string): boolean => sharing.has(getAgentId(key));
      const { replies, next } = await vault.messages.listRecalled({ before, limit, accepts });
      return { recalled: replies.map(toRecalledBefore), next };
    },
  };
});

/** With NUL or lone surrogates, the file would no longer be valid text, and agents could not read their memory. */
const sanitizeText = (text: string, param = 'text'): string => sanitizeMessage(text, { param });

const getAgentId = (key: string): string => key.slice(0, key.indexOf('/'));
const getSessionId = (key: string): string => key.slice(key.indexOf('/') + 1);

function requireDate(date: string): string {
  if (!isDate(date)) throw new RpcError('INVALID_PARAMS', `Invalid date "${date}". Use the form YYYY-MM-DD.`);
  return date;
}

function toRecalledBefore({ reply, question }: RecallReply): RecallHistoryEntry {
  const { id, sessionKey, timestamp, recalled = [] } = reply;
  const questionText = question ? toPlainText(question.content).trim() : '';
  return {
    at: timestamp,
    agentId: getAgentId(sessionKey),
    sessionId: getSessionId(sessionKey),
    messageId: id,
    question: questionText.length > MAX_QUESTION_CHARS ? `${questionText.slice(0, MAX_QUESTION_CHARS)} …` : questionText,
    memories: recalled,
  };
}
