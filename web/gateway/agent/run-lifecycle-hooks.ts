import { createCollectionNote } from './collections/collection-note.ts';
import { type RunLifecycleHooks, NO_NOTES } from './runs/run-types.ts';
import type { Vault } from '../storage/vault-interface.ts';
import type { RunRecord } from '../storage/chat-records.ts';
import type { AgentToolkit } from './toolkit/agent-toolkit.ts';
import type { Lazy } from '../system/modules.ts';

/** Hooks of the workbench into the life of a run. The workbench is loaded with the first run; if that fails, runs continue without it. */
export function createRunLifecycleHooks(
  agentToolkit: Lazy<AgentToolkit>,
  vault: Pick<Vault, 'collection'>,
  fault: (error: unknown) => unknown,
): RunLifecycleHooks & { onRunLost(run: RunRecord): Promise<void>; recover(vault: Pick<Vault, 'collection'>): Promise<void> } {
  const attempt = async <T>(work: (toolkit: AgentToolkit) => Promise<T>): Promise<T | undefined> => {
    try {
      return await work(await agentToolkit.load());
    } catch (error) {
      fault(error);
      return undefined;
    }
  };
  return {
    async getNotes(agent, key, offered, message) {
      const [notes = NO_NOTES, collections] = await Promise.all([
        attempt((toolkit) => toolkit.getNotes(agent, key, offered, message)),
        createCollectionNote(vault, agent, offered).catch((error: unknown) => void fault(error)),
      ]);
      return { ...notes, system: [notes.system, collections].filter(Boolean).join('\n\n') };
    },
    onRunEnded: ({ id, reason }) => attempt(({ plans }) => plans.onRunEnded(id, reason)),
    /** Called for a run whose host has died. */
    onRunLost: ({ id, sessionKey }) => attempt(({ plans }) => plans.onRunLost(id, sessionKey)),
    /** Pauses plans that were running on a host that died. */
    async recover(vault) {
      try {
        const plans = await vault.collection('plans').list();
        // Opening the workbench pauses them; without such plans it need not be loaded.
        if (plans.some(({ status }) => status === 'running' || status === 'pending')) await agentToolkit.load();
      } catch (error) {
        fault(error);
      }
    },
  };
}
