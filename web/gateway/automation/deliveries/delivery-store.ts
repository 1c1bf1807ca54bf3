import type { Collection, RecordWrite, Vault } from '../../storage/vault-interface.ts';
import type { DeliveryRecord } from '../../storage/records/delivery-record.ts';

/** Number of ended deliveries that are kept. */
const MAX_ENDED = 2_000;
/** Number of ended deliveries after which the oldest are removed. */
const PRUNE_EVERY = 200;

const OPEN_STATES: readonly DeliveryRecord['state'][] = ['waiting', 'sending', 'accepted'];
export const isOpen = ({ state }: Pick<DeliveryRecord, 'state'>): boolean => OPEN_STATES.includes(state);

/** Key of what a target's carrier talks to: a channel, or the kind of target. */
export const toCarrierKey = ({ target }: Pick<DeliveryRecord, 'target'>): string =>
  target.kind === 'channel' ? `channel:${target.channelId}` : target.kind;

/** The stored deliveries, with those that have not ended in memory. */
export class DeliveryStore {
  readonly #vault: Pick<Vault, 'writeAll'>;
  readonly #records: Collection<DeliveryRecord>;
  readonly #open = new Map<string, DeliveryRecord>();
  readonly #onChange: (record: DeliveryRecord) => void;
  #ended = 0;

  /** `onChange`: called with each record that was stored. */
  constructor(vault: Pick<Vault, 'collection' | 'writeAll'>, onChange: (record: DeliveryRecord) => void) {
    this.#vault = vault;
    this.#records = vault.collection('deliveries');
    this.#onChange = onChange;
  }

  /** Deliveries that have not ended. */
  get open(): ReadonlyMap<string, DeliveryRecord> {
    return this.#open;
  }

  /** Reads all deliveries, and removes the oldest ended ones. */
  async load(): Promise<void> {
    for (const record of await this.#records.list()) this.#remember(record);
    await this.prune();
  }

  /** Reads records that another host has changed. */
  async reload(ids: readonly string[]): Promise<DeliveryRecord[]> {
    const records = (await Promise.all(ids.map((id) => this.#records.get(id)))).filter((record) => record !== undefined);
    for (const record of records) this.#remember(record);
    return records;
  }

  get(id: string): Promise<DeliveryRecord | undefined> {
    return this.#records.get(id);
  }

  /** All deliveries, newest first. */
  async list(): Promise<DeliveryRecord[]> {
    return (await this.#records.list()).sort((a, b) => b.createdAt - a.createdAt || b.id.localeCompare(a.id));
  }

  /** Adds a delivery; resolves with the stored one if there is one with that id. */
  async add(record: DeliveryRecord): Promise<DeliveryRecord> {
    const stored = (await this.#records.update(record.id, (before) => (before ? undefined : record))) ?? record;
    if (stored === record) this.#keep(record);
    return stored;
  }

  /** Changes a delivery; undefined leaves it unchanged. Resolves with the changed one, else with undefined. */
  async change(id: string, change: (before: DeliveryRecord) => DeliveryRecord | undefined): Promise<DeliveryRecord | undefined> {
    let changed: DeliveryRecord | undefined;
    await this.#records.update(id, (before) => (changed = before && change(before)));
    if (changed) this.#keep(changed);
    return changed;
  }

  /** Adds and changes deliveries, all or none. */
  async writeAll(records: readonly DeliveryRecord[]): Promise<void> {
    await this.#vault.writeAll(records.map((record): RecordWrite<'deliveries'> => ({ store: 'deliveries', key: record.id, record })));
    for (const record of records) this.#keep(record);
  }

  async prune(): Promise<void> {
    this.#ended = 0;
    const ended = (await this.list()).filter((record) => !isOpen(record));
    await Promise.all(ended.slice(MAX_ENDED).map(({ id }) => this.#records.remove(id)));
  }

  /** Whether so many deliveries have ended that old ones should be removed. */
  get shouldPrune(): boolean {
    return this.#ended >= PRUNE_EVERY;
  }

  #keep(record: DeliveryRecord): void {
    this.#remember(record);
    if (!isOpen(record)) this.#ended++;
    this.#onChange(record);
  }

  #remember(record: DeliveryRecord): void {
    if (isOpen(record)) this.#open.set(record.id, record);
    else this.#open.delete(record.id);
  }
}
