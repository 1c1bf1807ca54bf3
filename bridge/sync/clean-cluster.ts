import { getBlobObjectName, readCurrentMessage, getSubjectName, sendBlob } from '#shared/sync/nats/record-messages.ts';
import { type VaultStreams, getStreamNames } from '#shared/sync/nats/vault-streams.ts';
import { abortableDelay } from '#shared/sync/nats/presence.ts';
import type { Journal } from '../journal/journal.ts';
import type { RecordSeal } from './record-seal.ts';
import type { SyncState } from './sync-state.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Maximum ages in milliseconds (docs/decisions/0065). A record whose attachment was found in the cluster must reach the cleaning bridge
 * within `keep - (renew + trust)`.
 */
export interface ObjectAges {
  /** Time for which an attachment seen in the cluster is assumed to be there. */
  trust: number;
  /** Age from which an attachment is uploaded again when another record refers to it. */
  renew: number;
  /** Age from which an unreferenced attachment is removed. */
  keep: number;
  /** Time since the last piece after which an unfinished upload is removed. */
  unfinished: number;
  /** Interval between cleanups. */
  every: number;
}
export const OBJECT_AGES: ObjectAges = { trust: DAY_MS, renew: 20 * DAY_MS, keep: 30 * DAY_MS, unfinished: DAY_MS, every: DAY_MS };

interface CleanDeps {
  journal: Pick<Journal, 'snapshot' | 'getBlob'>;
  cluster: Pick<VaultStreams, 'objects' | 'jsm' | 'stream' | 'prefix' | 'maxBytes'>;
  seal: RecordSeal;
  state: SyncState;
  ages: ObjectAges;
}

/** Cleans up at intervals until `signal` is aborted. Rejects if the cluster can't be reached. */
export async function runCleanup(deps: CleanDeps, signal: AbortSignal, log: (line: string) => void): Promise<void> {
  const { state, ages } = deps;
  for (let wait = state.marks.cleaned + ages.every - Date.now(); ; wait = Math.min(ages.every, HOUR_MS)) {
    await abortableDelay(Math.max(wait, 0), signal);
    if (signal.aborted) return;
    await cleanUnfinished(deps, signal);
    const count = await cleanObjects(deps, signal);
    if (count === null || signal.aborted) continue;
    state.recordMarks([], { cleaned: Date.now() });
    if (count > 0) log(`Removed ${count === 1 ? 'one unused object' : `${count} unused objects`} from the cluster`);
  }
}

/** Removes the pieces of unfinished uploads: their sender ended, or another sender uploaded the same object at the same time. */
async function cleanUnfinished({ cluster, seal, ages }: Pick<CleanDeps, 'cluster' | 'seal' | 'ages'>, signal: AbortSignal): Promise<void> {
  const { objects, jsm } = cluster;
  const stream = getStreamNames(seal.vault).objects;
  const pieces = `$O.${cluster.stream}_blobs.C.`;
  // List the pieces first: an upload that finishes in between is then among the objects.
  const { state } = await jsm.streams.info(stream, { subjects_filter: `${pieces}>` });
  const used = new Set((await objects.list()).map(({ nuid }) => `${pieces}${nuid}`));
  for (const subject of Object.keys(state.subjects ?? {})) {
    if (used.has(subject)) continue;
    const last = await jsm.streams.getMessage(stream, { last_by_subj: subject });
    if (signal.aborted) return;
    if (last && Date.now() - last.time.getTime() >= ages.unfinished) await jsm.streams.purge(stream, { filter: subject });
  }
}

/**
 * Removes objects that no record refers to, and uploads referenced objects that are missing. Returns the number removed; null if not all
 * references in the stream are known here, in which case nothing is removed.
 */
async function cleanObjects({ journal, cluster, seal, state, ages }: CleanDeps, signal: AbortSignal): Promise<number | null> {
  const { objects, jsm, stream } = cluster;
  // List the objects first: an object that a later record refers to is younger than `keep`.
  const listed = await objects.list();
  const { state: now } = await jsm.streams.info(stream);
  if (state.marks.read < now.last_seq || state.subjects !== now.num_subjects) return null;
  const used = new Set<string>();
  const ownBlobs = new Set<string>();
  const currentNames = new Set<string>();
  for await (const record of journal.snapshot()) {
    if (signal.aborted) return null;
    for (const hash of record.blobs ?? []) ownBlobs.add(hash);
    const name = await getSubjectName(seal, record);
    if (state.getKnown(name)?.clock === record.clock) currentNames.add(name);
  }
  for (const hash of ownBlobs) used.add(await getBlobObjectName(seal, hash));
  for (const { name, object } of state.listKnown()) {
    if (object !== null) used.add(object);
    if (currentNames.has(name)) continue;
    // The journal has a newer version, or no longer remembers the deletion.
    const message = await readCurrentMessage(cluster, seal, name);
    if (!message?.record || signal.aborted) return null;
    if (message.known.object !== null) used.add(message.known.object);
    for (const hash of message.record.blobs ?? []) used.add(await getBlobObjectName(seal, hash));
  }
  let count = 0;
  const existing = new Set<string>();
  for (const { name, mtime } of listed) {
    existing.add(name);
    if (used.has(name) || Date.now() - Date.parse(mtime) < ages.keep) continue;
    // Keep an object that was uploaded again in the meantime.
    if ((await objects.info(name))?.mtime !== mtime) continue;
    if (signal.aborted) return null;
    await objects.delete(name);
    count++;
  }
  for (const hash of ownBlobs) {
    if (existing.has(await getBlobObjectName(seal, hash))) continue;
    const bytes = await journal.getBlob(hash);
    if (bytes) await sendBlob(cluster, seal, { hash, bytes, renew: ages.renew });
  }
  return count;
}
