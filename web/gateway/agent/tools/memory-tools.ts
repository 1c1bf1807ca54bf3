import type { Agent } from '../agents.ts';
import { getMemoryWorkspace, getRecalledWorkspaces } from '../projects/chat-workspaces.ts';
import type { AgentMemories } from '../knowledge/memory/agent-memories.ts';
import { findChatOrigins } from '../knowledge/provenance/find-origins.ts';
import type { Provenance } from '../knowledge/provenance/provenance.ts';
import type { FoundMemory } from '../../knowledge/memory/found-memory.ts';
import type { LongTermMemories } from '../knowledge/memory/long-term-memories.ts';
import { toMemoryId } from '../../knowledge/memory/index/index-entry.ts';
import { LONG_TERM_FILE } from '../../knowledge/memory/layout.ts';
import { labelMemory } from '../knowledge/memory/label-memory.ts';
import { parsePreference } from '../../knowledge/memory/long-term-file.ts';
import { MEMORY_TOOLS } from '../../knowledge/memory/tools/memory-tool-definitions.ts';
import { type ContentLabels, getLabelSources } from '../trust/content-labels.ts';
import { getMessageSources, mergeSources } from '../trust/content-sources.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { defineTool } from './define-tool.ts';
import type { Impact, Tool, ToolContext } from './tool-registry.ts';
import type { Lazy } from '../../system/modules.ts';

export interface MemoryToolsDeps {
  memories: Lazy<Pick<AgentMemories, 'openWorkspace'>>;
  longTermMemories: Lazy<Pick<LongTermMemories, 'listIn'>>;
  agent(id: string): Agent;
  messages: Pick<Vault['messages'], 'get' | 'branch'>;
  provenance: Lazy<Provenance>;
  labels: ContentLabels;
  /** Saves the file's current version before a tool changes it. */
  keepVersion(workspace: string, path: string, toolCallId: string | undefined): Promise<unknown>;
}

/** Tools for the memory of the calling agent, or of the project of its chat. */
export function memoryTools({ memories, longTermMemories, messages, labels, provenance, agent, keepVersion }: MemoryToolsDeps): Tool[] {
  const getOwnWorkspace = ({ agentId, project }: ToolContext): string => getMemoryWorkspace(agent(agentId), project);
  const getImpact = async (name: string, args: Record<string, unknown>, context: ToolContext): Promise<Impact> => {
    if (name === 'memory_search' || name === 'memory_stats') return 'reads';
    if (name === 'memory_add') return 'adds';
    if (name !== 'memory_update_preference') return 'changes';
    const key = String(args['key']).trim().toLowerCase();
    const known = await (await longTermMemories.load()).listIn(getOwnWorkspace(context));
    return known.some((memory) => parsePreference(memory)?.key.toLowerCase() === key) ? 'changes' : 'adds';
  };
  const label = (text: string, context: ToolContext): Promise<void> =>
    labelMemory({ labels, longTermMemories }, getOwnWorkspace(context), text, getLabelSources(context));
  /** Records the messages of the chat that a written memory comes from. */
  const recordOrigin = async (workspace: string, text: string, { sessionKey }: ToolContext): Promise<void> => {
    const id = toMemoryId(text.trim());
    const memory = (await (await longTermMemories.load()).listIn(workspace)).find((each) => each.id === id);
    if (!memory) return;
    const origins = await findChatOrigins(messages, sessionKey, memory.text);
    const version = { text: memory.text, by: 'agent', messages: origins, createdAt: memory.createdAt } as const;
    await (await provenance.load()).record({ workspace, kind: 'memory', name: id }, version);
  };
  const getFoundSources = async (found: FoundMemory, workspace: string): Promise<readonly string[]> => {
    if (found.messageId !== undefined) {
      const message = await messages.get(found.messageId);
      if (message) return getMessageSources(message);
    }
    const [own, file] = await Promise.all([
      found.kind === 'memory' ? labels.getSources('memory', `${workspace}/${found.id}`) : [],
      labels.getSources('file', `${workspace}/${found.path}`),
    ]);
    return mergeSources(own, file);
  };
  return MEMORY_TOOLS.map(({ name, title, summary, description, params, writes, run }) =>
    defineTool({
      name,
      title,
      summary,
      description,
      params,
      source: 'memory',
      scope: writes ? 'memory' : null,
      impact: (args, context) => getImpact(name, args, context),
      async run(args, context) {
        const { sessionKey, taint } = context;
        const workspace = getOwnWorkspace(context);
        if (name === 'memory_add' || name === 'memory_update_preference') await label(getWrittenText(name, args), context);
        if (name === 'memory_forget' || name === 'memory_update_preference')
          await keepVersion(workspace, LONG_TERM_FILE, context.toolCallId);
        const runIn = async (searched: string): Promise<unknown> => {
          const found: FoundMemory[] = [];
          const result = await run(
            await (await memories.load()).openWorkspace(searched),
            args,
            (memory) => {
              // The model already has the same conversation in its context.
              return memory.sessionKey === undefined || memory.sessionKey !== sessionKey;
            },
            (memory) => found.push(memory),
          );
          if (taint) for (const memory of found) taint.add(await getFoundSources(memory, searched));
          return result;
        };
        if (name !== 'memory_search') {
          const result = await runIn(workspace);
          if (name === 'memory_add' || name === 'memory_update_preference')
            await recordOrigin(workspace, getWrittenText(name, args), context);
          return result;
        }
        const lists = (await Promise.all(getRecalledWorkspaces(agent(context.agentId), context.project).map(runIn))) as SearchResult[];
        const filled = lists.filter(({ results }) => results.length > 0);
        const note = filled.every((list) => list.note !== undefined) ? filled[0]?.note : undefined;
        return {
          results: interleave(lists.map(({ results }) => results)).slice(0, Number(args['limit'] ?? 5)),
          ...(note === undefined ? {} : { note }),
        };
      },
    }),
  );
}

/** Result of `memory_search` in one workspace. `note`: that nothing fits well. */
interface SearchResult {
  results: unknown[];
  note?: string;
}

const getWrittenText = (name: string, args: Record<string, unknown>): string =>
  name === 'memory_add' ? String(args['text']) : `${String(args['key']).trim()}: ${String(args['value'])}`;

/** The first of each list, then the second, and so on: scores of different workspaces cannot be compared. */
const interleave = <T>(lists: readonly (readonly T[])[]): T[] =>
  Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, index) =>
    lists.flatMap((list) => list.slice(index, index + 1)),
  ).flat();
