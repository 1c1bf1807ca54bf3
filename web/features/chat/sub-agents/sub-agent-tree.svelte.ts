import type { SubAgentEntry } from '#shared/rpc/record-schemas.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';

const isSame = (one: SubAgentEntry, other: SubAgentEntry): boolean => one.sessionId === other.sessionId && one.agentId === other.agentId;

/** Path of a sub-agent's session. */
export const toPath = ({ agentId, sessionId }: Pick<SubAgentEntry, 'agentId' | 'sessionId'>): string => `${agentId}/${sessionId}.jsonl`;

/** The sub-agents of a chat, kept up to date while they are watched. */
export class SubAgentTree {
  entries = $state.raw<readonly SubAgentEntry[]>([]);
  readonly #agentId: string;
  readonly #sessionId: string;
  #watchers = 0;
  #unsubscribe = (): void => {};

  constructor(agentId: string, sessionId: string) {
    this.#agentId = agentId;
    this.#sessionId = sessionId;
  }

  /** The sub-agent that a tool call of the chat started. */
  find(toolCallId: string): SubAgentEntry | undefined {
    const path = toPath({ agentId: this.#agentId, sessionId: this.#sessionId });
    return this.entries.find((entry) => entry.toolCallId === toolCallId && entry.parentPath === path);
  }

  /** Sub-agents that a sub-agent has started. */
  listBelow(entry: SubAgentEntry): SubAgentEntry[] {
    const path = toPath(entry);
    return this.entries.filter(({ parentPath }) => parentPath === path);
  }

  /** Follows the sub-agents. Returns a function that ends it. */
  watch(): () => void {
    if (this.#watchers++ === 0) {
      this.#unsubscribe = gateway.on('chat.sub_agent', ({ agentId, sessionId, subAgent }) => {
        if (agentId === this.#agentId && sessionId === this.#sessionId) this.#update(subAgent);
      });
      void this.load();
    }
    return () => {
      if (--this.#watchers === 0) this.#unsubscribe();
    };
  }

  /** Best effort: without it, the results of the tool calls are shown. */
  async load(): Promise<void> {
    const path = toPath({ agentId: this.#agentId, sessionId: this.#sessionId });
    const { subAgents } = await gateway.call('sessions.subAgents', { path }).catch(() => ({ subAgents: [] }));
    // Events that arrived meanwhile are newer.
    const isNew = (entry: SubAgentEntry): boolean => this.entries.some((known) => isSame(known, entry) && known.endedAt !== undefined);
    for (const entry of subAgents) if (!isNew(entry)) this.#update(entry);
  }

  #update(entry: SubAgentEntry): void {
    const known = this.entries.some((each) => isSame(each, entry));
    this.entries = known ? this.entries.map((each) => (isSame(each, entry) ? entry : each)) : [...this.entries, entry];
  }
}

const trees = new Map<string, SubAgentTree>();

/** The tree of a chat, shared by its tool cards. */
export function getSubAgentTree(agentId: string, sessionId: string): SubAgentTree {
  const key = `${agentId}/${sessionId}`;
  const tree = trees.get(key) ?? new SubAgentTree(agentId, sessionId);
  trees.set(key, tree);
  return tree;
}
