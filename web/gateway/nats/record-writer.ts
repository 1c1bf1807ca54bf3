import { getAncestors, mergeRecord, rebaseRecord } from '#shared/sync/conflict.ts';
import {
  readCurrentMessage,
  type SubjectState,
  getSubjectName,
  type RecordMessage,
  writeMessage,
} from '#shared/sync/nats/record-messages.ts';
import type { VaultStreams } from '#shared/sync/nats/vault-streams.ts';
import { ClusterProblem, isWrongSequence } from '#shared/sync/nats/cluster-problem.ts';
import type { VaultSeal } from '#shared/sync/nats/vault-seal.ts';
import { getClockOrigin, SYNC_STORES, type SyncRecord, type Version, wins } from '#shared/sync/record.ts';

/** Maximum number of attempts to write a record that others write at the same time. */
const MAX_ATTEMPTS = 20;

/** Known state of a record in the stream. */
type StreamVersion = SubjectState & Pick<Version, 'fence'>;

export interface WriteResult {
  /** Sequence numbers that the stream assigned to it, and to a conflict copy. */
  seqs: number[];
  /** Number of conflicting versions that were stored as copies. */
  conflicts: number;
}

interface RecordWriterDeps {
  places: VaultStreams;
  seal: VaultSeal;
  /** Schema version of this build's records. */
  schema: number;
  /** Called when the stream contains a newer schema. */
  onschema(schema: number): void;
  /** Called when a local record was stored under this number, as this message, which need not be read. */
  onwrote(seq: number, message: Uint8Array): void;
}

/**
 * Writes records to the vault's stream. Each write names the message that it replaces; if the subject holds another one, or a version that
 * the record was not made from, the two are merged first by the rules of the journal, and a conflicting loser becomes a separate record
 * (docs/decisions/0008).
 */
export class RecordWriter {
  readonly #deps: RecordWriterDeps;
  readonly #versions = new Map<string, StreamVersion>();

  constructor(deps: RecordWriterDeps) {
    this.#deps = deps;
  }

  /** Records a version that was read: the next write of the record replaces it. */
  noteReceived({ name, known, record }: RecordMessage): void {
    const previous = this.#versions.get(name);
    if (previous && previous.seq >= known.seq) return;
    this.#versions.set(name, toStreamVersion(known, record));
  }

  /**
   * Records a version that was read again. If its subject is known to hold another version, either it was replaced in the meantime, or the
   * servers lost an acknowledged write: the stream itself tells which. `current`: the version that it holds; `isChanged`: whether it is known
   * to have held another readable version.
   */
  async recheck(received: RecordMessage): Promise<{ now: RecordMessage | undefined; isChanged: boolean }> {
    const { places, seal } = this.#deps;
    const { name } = received;
    const version = this.#versions.get(name);
    const isSame = version?.clock === received.known.clock;
    let current: RecordMessage | undefined = received;
    if (version && !isSame && received.known.seq <= version.seq) {
      current = await readCurrentMessage(places, seal, name);
      this.#versions.delete(name);
    }
    if (current) this.noteReceived(current);
    return { now: current, isChanged: version !== undefined && version.clock !== '' && current?.known.clock !== version.clock };
  }

  /** Number of subjects known to hold a message. */
  get subjects(): number {
    return this.#versions.size;
  }

  /** Forgets all known versions, since everything is read again. */
  clear(): void {
    this.#versions.clear();
  }

  /**
   * Resolves when the stream holds this version or one that wins over it. `isLocal`: whether this browser has the record; it does not have
   * conflict copies made here.
   */
  async put(record: SyncRecord, isLocal = true): Promise<WriteResult> {
    const { places, seal, schema, onschema, onwrote } = this.#deps;
    const name = await getSubjectName(seal, record);
    const result: WriteResult = { seqs: [], conflicts: 0 };
    /** Number of the message that this version may replace, since it has been merged with it. */
    let merged: number | undefined;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const version = this.#versions.get(name);
      if (version?.clock === record.clock) return result;
      if (!version || version.seq === merged || isBasedOn(record, version)) {
        const published = await this.#publish(record, name, version);
        if (published) {
          if (isLocal) onwrote(published.seq, published.bytes);
          result.seqs.push(published.seq);
          return result;
        }
      }
      const theirs = await readCurrentMessage(places, seal, name);
      if (!theirs) {
        this.#versions.delete(name);
        continue;
      }
      if (theirs.schema > schema) {
        onschema(theirs.schema);
        throw new ClusterProblem('failed', 'The vault in the cluster was written by a newer version of Perch');
      }
      this.#versions.set(name, toStreamVersion(theirs.known, theirs.record));
      merged = theirs.known.seq;
      // A message that is not of the vault, or has an unknown format, is overwritten.
      if (!theirs.record) continue;
      const { stored, copy } = mergeRecord(theirs.record, record);
      if (copy) {
        const conflictResult = await this.put(copy, false);
        result.seqs.push(...conflictResult.seqs);
        result.conflicts++;
      }
      if (!stored) return result;
    }
    throw new ClusterProblem('failed', 'A record keeps changing on other devices; it is sent later');
  }

  /** The message and its number; null if the subject holds another message than expected. */
  async #publish(record: SyncRecord, name: string, version: StreamVersion | undefined): Promise<{ seq: number; bytes: Uint8Array } | null> {
    const { places, seal, schema } = this.#deps;
    const shared = rebaseRecord(record, version);
    const { bytes, object } = await writeMessage(places, seal, { record: shared, schema, name });
    let seq: number;
    try {
      const expect = { streamName: places.stream, lastSubjectSequence: version?.seq ?? 0 };
      ({ seq } = await places.js.publish(`${places.prefix}${name}`, bytes, { expect }));
    } catch (error) {
      if (isWrongSequence(error)) return null;
      throw error;
    }
    const current = this.#versions.get(name);
    if (!current || current.seq < seq)
      this.#versions.set(name, toStreamVersion({ seq, clock: record.clock, included: getAncestors(shared), object }, record));
    if (version?.object && version.object !== object) await places.objects.delete(version.object).catch(() => {});
    return { seq, bytes };
  }
}

const toStreamVersion = (known: SubjectState, record: SyncRecord | undefined): StreamVersion =>
  record?.fence === undefined ? known : { ...known, fence: record.fence };

/** Whether a version may replace another one without reading it. */
function isBasedOn(record: SyncRecord, version: StreamVersion): boolean {
  if (version.clock === '' || !wins(record, version)) return false;
  return (
    !SYNC_STORES[record.store].conflicts || record.base === version.clock || getClockOrigin(record.clock) === getClockOrigin(version.clock)
  );
}
