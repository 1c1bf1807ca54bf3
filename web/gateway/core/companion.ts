import { type Companion, NO_NOTES } from './runs/deps.ts';
import type { RunRecord, Vault } from './vault.ts';
import type { Workbench } from './workbench.ts';

/** Hooks of the workbench into the life of a run. The workbench is loaded with the first run; if that fails, runs continue without it. */
export function companionOf(
  workbench: () => Promise<Workbench>,
  fault: (error: unknown) => unknown,
): Companion & { lost(run: RunRecord): Promise<void>; recover(vault: Pick<Vault, 'collection'>): Promise<void> } {
  const within = async <T>(work: (bench: Workbench) => Promise<T>): Promise<T | undefined> => {
    try {
      return await work(await workbench());
    } catch (error) {
      fault(error);
      return undefined;
    }
  };
  return {
    notes: async (...run) => (await within((bench) => bench.notes(...run))) ?? NO_NOTES,
    ended: ({ id, reason }) => within(({ plans }) => plans.ended(id, reason)),
    /** Called for a run whose host has died. */
    lost: ({ id, sessionKey }) => within(({ plans }) => plans.lost(id, sessionKey)),
    /** Pauses plans that were running on a host that died. */
    async recover(vault) {
      try {
        const plans = await vault.collection('plans').list();
        // Opening the workbench pauses them; without such plans it need not be loaded.
        if (plans.some(({ status }) => status === 'running' || status === 'pending')) await workbench();
      } catch (error) {
        fault(error);
      }
    },
  };
}
