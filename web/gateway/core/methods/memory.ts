import { RpcError } from '#shared/rpc/errors.ts';
import type { memory, MemoryEntry, RecalledBefore } from '#shared/rpc/methods/memory.ts';
import { type Agents, workspaceOf } from '../agents.ts';
import { isPerson } from '../approvals/person.ts';
import { agentModels, type AskingDeps } from '../compaction/asking.ts';
import type { Handlers } from '../dispatch.ts';
import { localTime } from '../local-time.ts';
import { labelMemory } from '../memory/label-memory.ts';
import type { Memories } from '../memory/later.ts';
import { listedPage } from '../memory/listed-page.ts';
import { dayFile, isDate } from '../memory/layout.ts';
import { memoryId } from '../memory/index/entry.ts';
import { preferenceOf } from '../memory/long-term-file.ts';
import type { MemoryManager } from '../memory/memory-manager.ts';
import { sanitize } from '../runs/sanitize.ts';
import { tryInOrder } from '../small-work/small-models.ts';
import { plainText } from '../sessions.ts';
import type { ContentLabels } from '../trust/labels.ts';
import type { RecalledReply, Vault } from '../vault.ts';

export interface MemoryDeps extends AskingDeps {
  vault: Pick<Vault, 'messages' | 'usage'>;
  agents: Agents;
  memories: Memories;
  labels: ContentLabels;
  timeZone(): string;
}

/** Maximum characters of the question shown with recalled memories. */
const QUESTION_CHARS = 300;

export const memoryMethods = ({
  vault,
  clock,
  agents,
  memories,
  labels,
  models,
  silenceMs,
  findSmallModel,
  timeZone,
}: MemoryDeps): Handlers<typeof memory> => {
  const of = async (agentId: string): Promise<MemoryManager> => (await memories.load()).of(agentId);
  const listed = async (agentId: string): Promise<readonly MemoryEntry[]> => (await memories.longTerm()).list(agentId);
  const known = async (agentId: string, id: string): Promise<MemoryEntry> => {
    const found = (await listed(agentId)).find((each) => each.id === id);
    if (!found) throw new RpcError('NOT_FOUND', `No memory with id "${id}".`);
    return found;
  };

  return {
    'memory.list': async ({ agentId, ...wanted }) => listedPage(await listed(agentId), wanted),

    'memory.search': async ({ agentId, query, limit }) => {
      const manager = await of(agentId);
      const started = clock.monotonic();
      const results = await manager.searchMemory(query, limit);
      return {
        results: results.map(({ sessionKey, ...found }) => ({
          ...found,
          ...(sessionKey === undefined ? {} : { agentId: agentOf(sessionKey), sessionId: sessionOf(sessionKey) }),
        })),
        elapsedMs: clock.monotonic() - started,
      };
    },

    'memory.add': async ({ agentId, text, category, createdAt, outside = [] }, { principal }) => {
      await labelMemory({ labels, longTerm: memories.longTerm }, agentId, written(text), outside);
      const { added, ...entry } = await (await of(agentId)).addMemory(written(text), category, createdAt);
      // An entry saved by a person needs no review. A restored one keeps its label.
      if (isPerson(principal) && outside.length === 0) await labels.remove('memory', `${workspaceOf(agents.get(agentId))}/${entry.id}`);
      return { memory: entry, added };
    },

    'memory.update': async ({ agentId, id, text, category }, { principal }) => {
      if (text !== undefined && !isPerson(principal)) {
        const workspace = workspaceOf(agents.get(agentId));
        await labels.add('memory', `${workspace}/${memoryId(written(text))}`, await labels.getSources('memory', `${workspace}/${id}`));
      }
      const changed = await (await of(agentId)).updateMemory(id, { text: text === undefined ? undefined : written(text), category });
      if (!changed) throw new RpcError('NOT_FOUND', `No memory with id "${id}".`);
      return { memory: changed };
    },

    'memory.forget': async ({ agentId, id }) => {
      const forgotten = await known(agentId, id);
      const outside = await labels.getSources('memory', `${workspaceOf(agents.get(agentId))}/${id}`);
      await (await of(agentId)).forget(id);
      return { forgotten, ...(outside.length > 0 ? { outside: [...outside] } : {}) };
    },

    'memory.preferences': async ({ agentId }) => ({
      preferences: (await listed(agentId)).flatMap(({ id, createdAt, ...memory }) => {
        const preference = preferenceOf(memory);
        return preference ? { id, createdAt, ...preference } : [];
      }),
    }),

    'memory.setPreference': async ({ agentId, key, value }, { principal }) => {
      const { replaced, ...entry } = await (await of(agentId)).setPreference(written(key, 'key'), written(value, 'value'));
      if (isPerson(principal)) await labels.remove('memory', `${workspaceOf(agents.get(agentId))}/${entry.id}`);
      return { memory: entry, replaced };
    },

    'memory.stats': async ({ agentId }) => (await of(agentId)).getStats(),

    'memory.days': async ({ agentId }) => ({ days: await (await of(agentId)).getDays() }),

    'memory.day': async ({ agentId, date }) => {
      const notes = (await (await of(agentId)).getDay(day(date))) ?? null;
      const time = localTime(timeZone());
      const on = (await listed(agentId)).filter(({ createdAt }) => time(createdAt).date === date);
      const origins = await labels.getLinkOrigins('file', `${workspaceOf(agents.get(agentId))}/${dayFile(day(date))}`);
      return { date, notes, memories: on, ...origins };
    },

    'memory.summariseDay': async ({ agentId, date }, { signal, principal }) => {
      const manager = await of(agentId);
      const deps = { vault, clock, models, findSmallModel, ...(silenceMs ? { silenceMs } : {}) };
      const [first, ...others] = await agentModels(agents.get(agentId), principal, 'summary', deps);
      const path = await tryInOrder([first, ...others], signal, (model) => manager.summariseDay(day(date), { signal, model }));
      return { notes: path === undefined ? null : ((await manager.getDay(date)) ?? null) };
    },

    'memory.recalled': async ({ agentId, before = Infinity, limit }) => {
      const workspace = workspaceOf(agents.get(agentId));
      const sharing = new Set(agents.list().flatMap((agent) => (workspaceOf(agent) === workspace ? agent.id : [])));
      const accepts = (key: string): boolean => sharing.has(agentOf(key));
      const { replies, next } = await vault.messages.recalled({ before, limit, accepts });
      return { recalled: replies.map(recalledBefore), next };
    },
  };
};

/** With NUL or lone surrogates, the file would no longer be valid text, and agents could not read their memory. */
const written = (text: string, param = 'text'): string => sanitize(text, { param });

const agentOf = (key: string): string => key.slice(0, key.indexOf('/'));
const sessionOf = (key: string): string => key.slice(key.indexOf('/') + 1);

function day(date: string): string {
  if (!isDate(date)) throw new RpcError('INVALID_PARAMS', `Invalid date "${date}". Use the form YYYY-MM-DD.`);
  return date;
}

function recalledBefore({ reply, question }: RecalledReply): RecalledBefore {
  const { id, sessionKey, timestamp, recalled = [] } = reply;
  const asked = question ? plainText(question.content).trim() : '';
  return {
    at: timestamp,
    agentId: agentOf(sessionKey),
    sessionId: sessionOf(sessionKey),
    messageId: id,
    question: asked.length > QUESTION_CHARS ? `${asked.slice(0, QUESTION_CHARS)} …` : asked,
    memories: recalled,
  };
}
