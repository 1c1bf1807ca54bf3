import type { AgentMemories } from '../knowledge/memory/agent-memories.ts';
import type { FoundMemory } from '../../knowledge/memory/found-memory.ts';
import type { LongTermMemories } from '../knowledge/memory/long-term-memories.ts';
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
  memories: Lazy<Pick<AgentMemories, 'getManager'>>;
  longTermMemories: Lazy<Pick<LongTermMemories, 'list' | 'getWorkspaceName'>>;
  messages: Pick<Vault['messages'], 'get'>;
  labels: ContentLabels;
  /** Saves the file's current version before a tool changes it. */
  keepVersion(workspace: string, path: string, toolCallId: string | undefined): Promise<unknown>;
}

/** Tools for the memory of the calling agent. */
export function memoryTools({ memories, longTermMemories, messages, labels, keepVersion }: MemoryToolsDeps): Tool[] {
  const getImpact = async (name: string, args: Record<string, unknown>, { agentId }: ToolContext): Promise<Impact> => {
    if (name === 'memory_search' || name === 'memory_stats') return 'reads';
    if (name === 'memory_add') return 'adds';
    if (name !== 'memory_update_preference') return 'changes';
    const key = String(args['key']).trim().toLowerCase();
    const known = await (await longTermMemories.load()).list(agentId);
    return known.some((memory) => parsePreference(memory)?.key.toLowerCase() === key) ? 'changes' : 'adds';
  };
  const label = (text: string, context: ToolContext): Promise<void> =>
    labelMemory({ labels, longTermMemories }, context.agentId, text, getLabelSources(context));
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
        const { agentId, sessionKey, taint } = context;
        if (name === 'memory_add') await label(String(args['text']), context);
        if (name === 'memory_forget' || name === 'memory_update_preference')
          await keepVersion((await longTermMemories.load()).getWorkspaceName(agentId), LONG_TERM_FILE, context.toolCallId);
        if (name === 'memory_update_preference') await label(`${String(args['key'])}: ${String(args['value'])}`, context);
        const found: FoundMemory[] = [];
        const result = await run(
          await (await memories.load()).getManager(agentId),
          args,
          (memory) => {
            // The model already has the same conversation in its context.
            return memory.sessionKey === undefined || memory.sessionKey !== sessionKey;
          },
          (memory) => found.push(memory),
        );
        if (taint && found.length > 0) {
          const workspace = (await longTermMemories.load()).getWorkspaceName(agentId);
          for (const memory of found) taint.add(await getFoundSources(memory, workspace));
        }
        return result;
      },
    }),
  );
}
