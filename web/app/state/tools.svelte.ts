import type { ToolEntry } from '#shared/rpc/methods/tool-contracts.ts';
import type { ToolPolicy } from '#shared/rpc/tool-policies.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { announcer } from './announcer.svelte.ts';
import { readSetting } from './read-setting.ts';

export type ToolResult = MethodResult<'tools.run'>;

/** The tools that agents can use, and their policies. */
class Tools {
  /** By name; null before the first answer. */
  list = $state.raw<readonly ToolEntry[] | null>(null);
  problem = $state<Problem | null>(null);
  /** Value of `tools.policies`, by name or pattern. */
  #policies = $state.raw<Readonly<Record<string, unknown>>>({});
  #loadCount = 0;

  /** Loads the tools, now and at each change. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    const stops = (['mcp.changed', 'config.changed'] as const).map((event) => gateway.on(event, () => void this.load()));
    return () => {
      for (const stop of stops) stop();
    };
  }

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    try {
      const [{ tools }, policies] = await Promise.all([gateway.call('tools.catalog', {}), readSetting('tools.policies')]);
      if (loadId !== this.#loadCount) return;
      this.list = tools;
      this.#policies = typeof policies === 'object' && policies !== null ? { ...policies } : {};
      this.problem = null;
    } catch (error) {
      if (loadId === this.#loadCount && !isConnectionLost(error)) this.problem = toProblem(error, m.tools_doing_read());
    }
  }

  /** Whether a person has set a policy for exactly this tool. */
  hasOwnPolicy(name: string): boolean {
    return Object.hasOwn(this.#policies, name);
  }

  /** Sets the policy of a tool; null restores the default of its kind. Rejects if the gateway refuses. */
  async setPolicy(name: string, policy: ToolPolicy | null): Promise<void> {
    await gateway.call('config.patch', { patch: { tools: { policies: { [name]: policy } } } });
    await this.load();
    announcer.announce(m.tools_changed());
  }

  /** Runs a tool by hand; resolves after approval if it needs one. Rejects if it fails. */
  run(tool: string, args: Record<string, unknown>, agentId: string, callId: string): Promise<ToolResult> {
    return gateway.call('tools.run', { tool, args, agentId, callId });
  }

  /** Cancels a call of `run`, which then rejects with `ABORTED`. */
  async cancel(callId: string): Promise<void> {
    await gateway.call('tools.cancel', { callId });
  }
}

export const tools = new Tools();
