import 'fake-indexeddb/auto';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { Deliveries, type DeliveriesDeps } from '../../web/gateway/automation/deliveries/deliveries.ts';
import type { DeliverySettings } from '../../web/gateway/config/sections/delivery-settings.ts';
import { settingsSchema } from '../../web/gateway/config/settings-schema.ts';
import { acquireEpoch, openVault } from '../../web/gateway/storage/open-vault.ts';
import type { DeliveryRecord } from '../../web/gateway/storage/records/delivery-record.ts';
import type { Collection, Vault } from '../../web/gateway/storage/vault-interface.ts';
import type { SyncPort } from '../../web/gateway/sync/sync-port.ts';
import { EventBus } from '../../web/gateway/system/event-bus.ts';
import { FakeClock } from './fake-clock.ts';

let names = 0;

/** Hashes that are being computed, on a thread of their own: `settle` waits for them too. */
let hashing = 0;
const digest = crypto.subtle.digest.bind(crypto.subtle);
crypto.subtle.digest = (...args) => {
  hashing++;
  return digest(...args).finally(() => hashing--);
};

interface DeliverySetup {
  clock: FakeClock;
  faults: unknown[];
  /** Settings, which the test may change. */
  settings: Partial<DeliverySettings>;
  /** Starts a new host on the same data. */
  open(): Promise<Deliveries>;
  /** Gives everything that is under way time to be stored. */
  settle(): Promise<void>;
}

interface SetupOptions {
  settings?: Partial<DeliverySettings>;
  sync?: SyncPort;
  /** Whether records are kept in memory instead of a vault, for large numbers. */
  isInMemory?: boolean;
}

/** Deliveries with a clock that the test advances. */
export async function createDeliveries({ settings = {}, sync, isInMemory = false }: SetupOptions = {}): Promise<DeliverySetup> {
  const clock = new FakeClock();
  const stored = isInMemory ? createMemoryVault() : await createVault(clock);
  const records = stored.collection('deliveries');
  const faults: unknown[] = [];
  let pending = 0;
  const track =
    <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      pending++;
      return run(...args).finally(() => pending--);
    };
  const update = track(records.update) as typeof records.update;
  const collection = (() => ({ ...records, update, list: track(records.list) })) as unknown as Vault['collection'];
  return {
    ...{ clock, faults, settings },
    open: () =>
      Deliveries.open({
        ...{ clock, sync, vault: { ...stored, collection, writeAll: track(stored.writeAll) } },
        ...{ runDeps: { keySources: async () => [] }, hub: new EventBus(), timeZone: () => 'UTC', log: { write: () => {} } },
        settings: () => settingsSchema.parse({ deliveries: settings }),
        fault: (error) => {
          faults.push(error);
          return new RpcError('INTERNAL_ERROR', String(error));
        },
      }),
    async settle() {
      for (let quiet = 0; quiet < 5; quiet = pending + hashing > 0 ? 0 : quiet + 1) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

async function createVault(clock: FakeClock): Promise<DeliveriesDeps['vault']> {
  const name = `deliveries-${++names}`;
  return openVault({ name, epoch: await acquireEpoch(name), clock, onclosed: () => {} });
}

function createMemoryVault(): DeliveriesDeps['vault'] {
  const all = new Map<string, DeliveryRecord>();
  const records: Collection<DeliveryRecord> = {
    get: async (key) => all.get(key),
    list: async () => [...all.values()],
    keys: async () => [...all.keys()],
    put: async (record) => void all.set(record.id, record),
    async update(key, change) {
      // Takes a while, like a database.
      await new Promise((resolve) => setImmediate(resolve));
      const after = change(all.get(key));
      if (after) all.set(key, after);
      return all.get(key);
    },
    remove: async (key) => all.delete(key),
  };
  return {
    collection: (() => records) as unknown as Vault['collection'],
    writeAll: async (writes) => {
      for (const { key, record } of writes) all.set(key, record as DeliveryRecord);
    },
    onRemoteChanges: () => () => {},
  };
}
