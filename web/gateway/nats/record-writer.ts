import { included, mergeInto, onTop } from '#shared/sync/conflict.ts';
import { currentMessage, type Known, nameOf, type Received, writeMessage } from '#shared/sync/nats/messages.ts';
import type { Places } from '#shared/sync/nats/places.ts';
import { ClusterProblem, isWrongSequence } from '#shared/sync/nats/problems.ts';
import type { VaultSeal } from '#shared/sync/nats/seal.ts';
import { originOf, SYNC_STORES, type SyncRecord, type Version, wins } from '#shared/sync/record.ts';

/** Maximum number of attempts to write a record that others write at the same time. */
const TRIES = 20;

/** Known state of a record in the stream. */
type Held = Known & Pick<Version, 'fence'>;

export interface Written {
  /** Sequence numbers that the stream assigned to it, and to a conflict copy. */
  seqs: number[];
  /** Number of conflicting versions that were stored as copies. */
  conflicts: number;
}

export interface RecordWriterDeps {
  places: Places;
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
  readonly #held = new Map<string, Held>();

  constructor(deps: RecordWriterDeps) {
    this.#deps = deps;
  }

  /** Records a version that was read: the next write of the record replaces it. */
  saw({ name, known, record }: Received): void {
    const before = this.#held.get(name);
    if (before && before.seq >= known.seq) return;
    this.#held.set(name, heldOf(known, record));
  }

  /**
   * Records a version that was read again. If its subject is known to hold another version, either it was replaced in the meantime, or the
   * servers lost an acknowledged write: the stream itself tells which. `now`: the version that it holds; `isChanged`: whether it is known
   * to have held another readable version.
   */
  async sawAgain(one: Received): Promise<{ now: Received | undefined; isChanged: boolean }> {
    const { places, seal } = this.#deps;
    const { name } = one;
    const held = this.#held.get(name);
    const isSame = held?.clock === one.known.clock;
    let now: Received | undefined = one;
    if (held && !isSame && one.known.seq <= held.seq) {
      now = await currentMessage(places, seal, name);
      this.#held.delete(name);
    }
    if (now) this.saw(now);
    return { now, isChanged: held !== undefined && held.clock !== '' && now?.known.clock !== held.clock };
  }

  /** Number of subjects known to hold a message. */
  get subjects(): number {
    return this.#held.size;
  }

  /** Forgets all known versions, since everything is read again. */
  forget(): void {
    this.#held.clear();
  }

  /**
   * Resolves when the stream holds this version or one that wins over it. `isHere`: whether this browser has the record; it does not have
   * conflict copies made here.
   */
  async put(record: SyncRecord, isHere = true): Promise<Written> {
    const { places, seal, schema, onschema, onwrote } = this.#deps;
    const name = await nameOf(seal, record);
    const written: Written = { seqs: [], conflicts: 0 };
    /** Number of the message that this version may replace, since it has been merged with it. */
    let merged: number | undefined;
    for (let tries = 0; tries < TRIES; tries++) {
      const held = this.#held.get(name);
      if (held?.clock === record.clock) return written;
      if (!held || held.seq === merged || isMadeFrom(record, held)) {
        const published = await this.#publish(record, name, held);
        if (published) {
          if (isHere) onwrote(published.seq, published.bytes);
          written.seqs.push(published.seq);
          return written;
        }
      }
      const theirs = await currentMessage(places, seal, name);
      if (!theirs) {
        this.#held.delete(name);
        continue;
      }
      if (theirs.schema > schema) {
        onschema(theirs.schema);
        throw new ClusterProblem('failed', 'The vault in the cluster was written by a newer version of Perch');
      }
      this.#held.set(name, heldOf(theirs.known, theirs.record));
      merged = theirs.known.seq;
      // A message that is not of the vault, or has an unknown format, is overwritten.
      if (!theirs.record) continue;
      const { stored, copy } = mergeInto(theirs.record, record);
      if (copy) {
        const kept = await this.put(copy, false);
        written.seqs.push(...kept.seqs);
        written.conflicts++;
      }
      if (!stored) return written;
    }
    throw new ClusterProblem('failed', 'A record keeps changing on other devices; it is sent later');
  }

  /** The message and its number; null if the subject holds another message than expected. */
  async #publish(record: SyncRecord, name: string, held: Held | undefined): Promise<{ seq: number; bytes: Uint8Array } | null> {
    const { places, seal, schema } = this.#deps;
    const shared = onTop(record, held);
    const { bytes, object } = await writeMessage(places, seal, { record: shared, schema, name });
    let seq: number;
    try {
      const expect = { streamName: places.stream, lastSubjectSequence: held?.seq ?? 0 };
      ({ seq } = await places.js.publish(`${places.prefix}${name}`, bytes, { expect }));
    } catch (error) {
      if (isWrongSequence(error)) return null;
      throw error;
    }
    const now = this.#held.get(name);
    if (!now || now.seq < seq) this.#held.set(name, heldOf({ seq, clock: record.clock, included: included(shared), object }, record));
    if (held?.object && held.object !== object) await places.objects.delete(held.object).catch(() => {});
    return { seq, bytes };
  }
}

const heldOf = (known: Known, record: SyncRecord | undefined): Held =>
  record?.fence === undefined ? known : { ...known, fence: record.fence };

/** Whether a version may replace another one without reading it. */
function isMadeFrom(record: SyncRecord, held: Held): boolean {
  if (held.clock === '' || !wins(record, held)) return false;
  return !SYNC_STORES[record.store].conflicts || record.base === held.clock || originOf(record.clock) === originOf(held.clock);
}
