import type { Clock } from '../core/clock.ts';
import type { OwnershipLost, Vault } from '../core/vault.ts';
import { latestReading, originOf } from './change-log.ts';
import { configStore } from './config.ts';
import { Database } from './database.ts';
import { HybridClock } from './hybrid-clock.ts';
import { memoryStore } from './memories.ts';
import { messageStore } from './messages.ts';
import { runStore } from './runs.ts';
import { secretStore } from './secrets.ts';
import { sessionStore } from './sessions.ts';
import { Transactions } from './transaction.ts';
import { UsageLog } from './usage.ts';

export { VaultClosed, VaultTooNew } from './database.ts';
export { takeEpoch } from './epoch.ts';
export { SecretUnreadable } from './secrets.ts';

/** Why a vault closed without being asked: a newer build wants (or has changed) the data, or another worker owns them. */
export type ClosedReason = 'newer-version' | 'ownership-lost';

export interface VaultOptions {
  /** The database's name. */
  name: string;
  /** What `takeEpoch` gave. Without it writes are not fenced, for places where there can be one vault alone. */
  epoch?: number;
  clock: Clock;
  /** Who writes, in the change log; else an id that this copy of the data keeps. */
  origin?: string;
  /** Called once; every later operation rejects with `VaultTooNew` or `OwnershipLost`. */
  onclosed: (reason: ClosedReason) => void;
  /** An older build's connection is still open; the vault opens when that closes. */
  onblocked?: () => void;
  /** Usage, which nobody waits for, could not be stored. */
  onfault?: (error: unknown) => void;
}

/**
 * Opens the vault in IndexedDB. Rejects with `VaultTooNew` where a newer build wrote the data, with `StorageFull` where there is no room
 * for it. It heals after a forced close.
 */
export async function openVault(options: VaultOptions): Promise<Vault> {
  const { name, epoch, clock, onclosed, onblocked, onfault = () => {} } = options;
  let serving = false;
  let beforeOutdated = async (): Promise<void> => {};
  const database = new Database({
    name,
    onblocked,
    onoutdated: () => serving && onclosed('newer-version'),
    beforeOutdated: () => beforeOutdated(),
  });
  const origin = options.origin ?? (await database.write(['local'], 'relaxed', originOf));
  const readings = new HybridClock(() => clock.now(), origin);
  const latest = await database.read(['changes'], latestReading);
  if (latest !== undefined) readings.receive(latest);

  const onlost = (reason: OwnershipLost): void => {
    if (database.end(reason)) onclosed('ownership-lost');
  };
  const transactions = new Transactions(database, { clock: readings, origin, epoch, onlost });
  const usage = new UsageLog({ clock, transactions, onfault });
  beforeOutdated = () => usage.flush();
  const secrets = secretStore({ transactions });
  serving = true;

  return {
    sessions: sessionStore({ clock, transactions }),
    messages: messageStore({ transactions }),
    runs: runStore({ transactions }),
    config: configStore({ transactions, secrets }),
    secrets,
    memories: memoryStore({ transactions }),
    usage: usage.store,
    async close() {
      await usage.flush();
      await database.close();
    },
  };
}
