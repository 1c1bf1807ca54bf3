import { serveCalls, type PortServer, type CallHandlers, createPortClient } from '#shared/link/port-calls.ts';
import { memoryPair } from '#shared/link/link.ts';
import {
  journalContracts,
  type JournalContracts,
  journalEvents,
  type JournalEvents,
  type SequencedRecord,
} from '#shared/ports/journal-port.ts';
import type { AttachedHost, JournalInfo } from '#shared/ports/journal-info.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import { mergeRecord } from '#shared/sync/conflict.ts';
import { MIN_RESERVE_FREE_BYTES } from '#shared/sync/disk-space.ts';
import { type SyncRecord, wins } from '#shared/sync/record.ts';
import type { JournalConnection } from '../../web/gateway/sync/journal-connection.ts';

type JournalRow = SequencedRecord & { pusher: string | null };

/** The journal's port over a plain map, for tests of hosts in Node: the embedded engine's behaviour without a disk. */
export class MemoryJournal {
  id = 'journal-1';
  seq = 0;
  schema = 1;
  /** Error that pushes throw, if any. */
  pushError: RpcError | undefined;
  /** Free bytes on its disk; with fewer than the reserve needs, pushes answer `low`. */
  freeBytes: number | null = null;
  /** Gate that pushes wait for. */
  pushGate: Promise<void> | undefined;
  /** Gate that pulls wait for. */
  pullGate: Promise<void> | undefined;
  readonly rows = new Map<string, JournalRow>();
  readonly blobs = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly fences = new Map<string, { fence: number; holder: string | undefined }>();
  readonly #ports = new Set<{ answerer: PortServer<JournalEvents>; origin: string; close(): void }>();

  /** Connects a host; `cut` breaks the connection. */
  connect(): JournalConnection & { cut(): void } {
    const [ours, theirs] = memoryPair<string>();
    const port = { origin: '', schema: 1, own: 0, close: () => ours.close(1001, 'cut') };
    const handlers: CallHandlers<JournalContracts> = {
      'journal.open': async ({ origin, schema, position }) => {
        const isSameJournal = position?.journal === this.id;
        // A host that reads from the start also gets its own records.
        Object.assign(port, { origin, schema, own: isSameJournal ? 0 : this.seq });
        return {
          position: { journal: this.id, era: 'one', seq: isSameJournal ? position.seq : 0 },
          head: this.seq,
          schema: this.schema,
          wantsAll: !isSameJournal,
          stale: false,
          vaultKey: 'A'.repeat(43),
          shared: false,
        };
      },
      'journal.pull': async ({ after, limit }) => {
        await this.pullGate;
        const found = [...this.rows.values()].filter((row) => row.seq > after).sort((a, b) => a.seq - b.seq);
        const page = found.slice(0, limit);
        const next = page.length < found.length ? (page.at(-1)?.seq ?? this.seq) : this.seq;
        return {
          records: page.filter((row) => after < port.own || row.pusher !== port.origin).map(({ pusher: _, ...row }) => row),
          next,
          head: this.seq,
        };
      },
      'journal.push': async ({ records }) => {
        await this.pushGate;
        if (this.pushError) throw this.pushError;
        this.schema = Math.max(this.schema, port.schema);
        const before = this.seq;
        let conflicts = 0;
        for (const record of records) conflicts += this.#merge(record, port.origin);
        for (const other of this.#ports) if (other.origin !== port.origin) other.answerer.send('journal.changed', { head: this.seq });
        return {
          before,
          last: this.seq,
          conflicts,
          ...(this.freeBytes !== null && this.freeBytes < MIN_RESERVE_FREE_BYTES && { low: true }),
        };
      },
      'journal.ready': async () => ({}),
      'host.leave': async () => ({}),
      'journal.info': async () => ({ journal: this.info(), hosts: [...this.#ports].map(({ origin }) => attachedPorts(origin)) }),
      'journal.cluster': async () => ({ cluster: null }),
      'lease.take': async ({ name, presumed }) => {
        const lease = this.fences.get(name);
        const holder = lease?.holder ?? presumed;
        if (holder !== undefined && holder !== port.origin && [...this.#ports].some(({ origin }) => origin === holder))
          return { fence: null };
        const ownFence = lease?.holder === port.origin ? lease.fence : undefined;
        const fence = ownFence ?? (lease?.fence ?? (presumed === undefined ? 0 : 1)) + 1;
        this.fences.set(name, { fence, holder: port.origin });
        return { fence };
      },
      'lease.release': async ({ name, fence }) => {
        const lease = this.fences.get(name);
        if (lease?.holder === port.origin && lease.fence === fence) this.fences.set(name, { fence, holder: undefined });
        return {};
      },
      'host.signal': async ({ to, payload }) => {
        const target = [...this.#ports].find(({ origin }) => origin === to);
        target?.answerer.send('host.signal', { from: port.origin, payload });
        return { delivered: target !== undefined };
      },
    };
    const entry = Object.assign(port, {
      answerer: serveCalls<JournalContracts, JournalEvents>(theirs, journalContracts, handlers, {
        fault: (error) => console.error(error),
        onclose: () => this.#ports.delete(entry),
      }),
    });
    this.#ports.add(entry);
    return {
      ...createPortClient(ours, journalContracts, journalEvents),
      cut: port.close,
      putBlob: async (hash, bytes) => void this.blobs.set(hash, bytes),
      getBlob: async (hash) => this.blobs.get(hash),
    };
  }

  info(): JournalInfo {
    const emptyInfo = { path: '', bytes: 0, tombstones: 0, blobs: 0, blobBytes: 0, changedAt: null, notices: [], free: this.freeBytes };
    return { ...emptyInfo, id: this.id, head: this.seq, schema: this.schema, records: this.rows.size };
  }

  /** Replaces the journal with an empty one. */
  replaceJournal(): void {
    this.id = `${this.id}'`;
    this.seq = 0;
    this.rows.clear();
    for (const { answerer } of this.#ports) answerer.send('journal.replaced', { reason: 'The journal was lost' });
  }

  #merge(record: SyncRecord, pusher: string | null): number {
    const key = `${record.store}/${record.key}`;
    const { stored, copy } = mergeRecord(this.rows.get(key), record);
    if (stored) this.rows.set(key, { ...stored, seq: ++this.seq, pusher });
    const before = copy && this.rows.get(`conflicts/${copy.key}`);
    if (copy && (!before || wins(copy, before))) this.rows.set(`conflicts/${copy.key}`, { ...copy, seq: ++this.seq, pusher: null });
    return copy ? 1 : 0;
  }
}

const attachedPorts = (origin: string): AttachedHost => ({
  origin,
  kind: 'tab',
  build: '',
  name: origin,
  since: 0,
  ready: true,
  holder: false,
});
