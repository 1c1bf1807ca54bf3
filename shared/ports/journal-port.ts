import { defineMethod } from '../rpc/contract.ts';
import { clusterReport } from './cluster-report.ts';
import { z } from '../rpc/zod.ts';
import { syncRecord } from '../sync/record.ts';
import { MAX_JOURNAL_BATCH } from './journal-batch.ts';
import { attachedHost, journalInfo } from './journal-info.ts';

export const position = z.object({
  /** Id of the journal: a new one (after loss or damage) has another id. */
  journal: z.string(),
  /** Id of its history: tells a journal that was restored from an older copy. */
  era: z.string(),
  /** Everything up to this sequence number is here. */
  seq: z.number().int().nonnegative(),
});
/** A replica's read position. */
export type JournalPosition = z.infer<typeof position>;

const sequencedRecord = syncRecord.extend({ seq: z.number().int().positive() });
/** A record with its place in the journal: each accepted change gets the next number. */
export type SequencedRecord = z.infer<typeof sequencedRecord>;

const origin = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/);
const leaseName = z.string().min(1).max(200);
const fence = z.number().int().positive();

/**
 * The journal, as a host uses it over its uplink. The embedded engine is one SQLite file next to the bridge; any other that can pull, push,
 * report changes and grant leases may replace it.
 */
export const journalContracts = {
  'journal.open': defineMethod({
    params: z.object({
      origin,
      /** The schema of the records that this host writes. */
      schema: z.number().int().min(1),
      name: z.string().max(200).default(''),
      position: position.nullable(),
    }),
    result: z.object({
      /** Position to pull from: 0 if everything must be read again. */
      position,
      head: z.number().int().nonnegative(),
      /** Newest schema among all writers. A host with an older one must neither pull nor push. */
      schema: z.number().int(),
      /** All of the replica's own records are wanted, tombstones too: the journal is new, or an older copy of itself. */
      wantsAll: z.boolean(),
      /**
       * The replica was away for longer than tombstones are kept: records that it had pushed and that are missing from the journal were
       * deleted.
       */
      stale: z.boolean(),
      /** Key that seals secrets in this vault: 256 bit, base64url. Absent if the host has it in a form that it can use but not export. */
      vaultKey: z.string().optional(),
      /** How a browser reaches the cluster that the vault is shared over, for when this bridge is not there (`BrowserWay`); null: not at all. */
      cluster: z.unknown().optional(),
      /** Whether other machines have the vault too; a bridge before this field does not say it. */
      shared: z.boolean().optional(),
    }),
    docs: 'Identifies the replica and how far it has read. Must be the first call.',
    policy: { scope: 'write' },
  }),
  'journal.pull': defineMethod({
    params: z.object({
      after: z.number().int().nonnegative(),
      limit: z.number().int().min(1).max(MAX_JOURNAL_BATCH.records).default(MAX_JOURNAL_BATCH.records),
    }),
    result: z.object({
      records: z.array(sequencedRecord),
      /** Everything up to here was read; the next `after`. */
      next: z.number().int().nonnegative(),
      head: z.number().int().nonnegative(),
    }),
    docs: 'Returns the records that changed after a sequence number, in order, without those of the caller itself unless it reads from the start.',
    policy: { scope: 'read' },
  }),
  'journal.push': defineMethod({
    params: z.object({ records: z.array(syncRecord).max(MAX_JOURNAL_BATCH.records) }),
    result: z.object({
      /** The sequence number before the first and of the last that was given out for this push. */
      before: z.number().int().nonnegative(),
      last: z.number().int().nonnegative(),
      /** Versions that lost against concurrent ones and were kept as copies. */
      conflicts: z.number().int().nonnegative(),
      /** The disk is full, and space that was set aside has been used: the host should write nothing more until there is space. */
      low: z.boolean().optional(),
    }),
    docs: 'Stores changes, all of one push or none. They are on disk when it resolves.',
    policy: { scope: 'write' },
  }),
  'journal.ready': defineMethod({
    params: z.object({ seq: z.number().int().nonnegative() }),
    result: z.object({}),
    docs: 'Reports that the replica has caught up and can serve.',
    policy: { scope: 'write' },
  }),
  'host.leave': defineMethod({
    params: z.object({}),
    result: z.object({}),
    docs: 'Reports that the host is about to close, so that another one takes over if there is one. `journal.ready` withdraws it.',
    policy: { scope: 'write' },
  }),
  'journal.info': defineMethod({
    params: z.object({}),
    result: z.object({ journal: journalInfo, hosts: z.array(attachedHost) }),
    docs: 'Returns what is on disk and which hosts are connected.',
    policy: { scope: 'read' },
  }),
  'journal.cluster': defineMethod({
    params: z.object({}),
    result: z.object({ cluster: clusterReport.nullable() }),
    docs: 'Returns the state of the cluster, or null if the vault is on one computer only.',
    policy: { scope: 'read' },
  }),
  'lease.take': defineMethod({
    params: z.object({
      name: leaseName,
      /** Holder of a lease that was never taken, while that host is present. */
      presumed: origin.optional(),
      ttlMs: z.number().int().min(1).max(3_600_000),
      /** Grants the lease only once all records of the host have reached the vault's other machines. */
      settled: z.boolean().optional(),
    }),
    result: z.object({
      /**
       * Higher than every earlier one of this name; null if another host holds it. For a tick of a job (`cron:…`) it is 1 if nobody held it
       * before.
       */
      fence: fence.nullable(),
    }),
    docs: 'Acquires a lease for the calling host. It ends after its time, or some seconds after its holder disconnects.',
    policy: { scope: 'write' },
  }),
  'lease.release': defineMethod({
    params: z.object({ name: leaseName, fence }),
    result: z.object({}),
    docs: 'Releases a lease.',
    policy: { scope: 'write' },
  }),
  'host.signal': defineMethod({
    params: z.object({
      /** An attached host; if absent, the active one. */
      to: origin.optional(),
      payload: z.unknown(),
    }),
    result: z.object({ delivered: z.boolean() }),
    docs: 'Passes a payload to another host, if it is connected.',
    policy: { scope: 'write' },
  }),
};
export type JournalContracts = typeof journalContracts;

/** Events that the bridge sends to a host. */
export const journalEvents = {
  /** Something was stored; `head` is the newest sequence number. */
  'journal.changed': z.object({ head: z.number().int().nonnegative() }),
  /** The journal was replaced: open it again. */
  'journal.replaced': z.object({ reason: z.string() }),
  /** Whether this host serves the gateway's clients. */
  'host.role': z.object({ holder: z.boolean() }),
  /** A change from another host. */
  'host.signal': z.object({ from: origin, payload: z.unknown() }),
};
export type JournalEvents = typeof journalEvents;
