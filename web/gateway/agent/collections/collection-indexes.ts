import type { Clock } from '#shared/async/clock.ts';
import { Mutex } from '#shared/async/mutex.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { PassageIndex, type PassageHit } from '../../knowledge/collections/passage-index.ts';
import { type IndexedText, mergeSegments, type PassagePlace, Segment, SegmentBuilder } from '../../knowledge/collections/segment.ts';
import type { CollectionDocumentRecord } from '../../storage/records/collection-records.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { CollectionDocuments } from './collection-documents.ts';
import { toPassageText } from './document-texts.ts';

/** Passages or characters after which a segment is written. */
const MAX_BUILDER_PASSAGES = 4000;
const MAX_BUILDER_CHARS = 4_000_000;
/** Number of segments of similar size that are merged. */
const SEGMENTS_PER_TIER = 6;
/** Segments of a tier have up to four times as many passages as those of the tier below. */
const TIER_BASE = 4;
const FIRST_TIER_PASSAGES = 16;

/** Milliseconds that a search waits for texts that are being added. */
const MAX_WAIT_MS = 500;

/** State of the index of a collection that is in use. */
interface OpenIndex {
  builder: SegmentBuilder;
  /** Texts in the builder. */
  building: Set<string>;
  nextSegment: number;
  mutex: Mutex;
  /** Number of texts that are being added because the index does not have them. */
  missing: number;
  /** Set while they are. */
  catchingUp: Promise<void> | undefined;
}

interface CollectionIndexesDeps {
  vault: Vault;
  documents: CollectionDocuments;
  clock: Clock;
  fault(error: unknown): unknown;
}

/** This replica's search index over the passages of collections: segments in IndexedDB, derived from the stored texts. */
export class CollectionIndexes {
  readonly #vault: Vault;
  readonly #documents: CollectionDocuments;
  readonly #clock: Clock;
  readonly #fault: (error: unknown) => unknown;
  readonly #index = new PassageIndex();
  readonly #opening = new Map<string, Promise<OpenIndex>>();
  readonly #stopped = new AbortController();

  constructor({ vault, documents, clock, fault }: CollectionIndexesDeps) {
    [this.#vault, this.#documents, this.#clock, this.#fault] = [vault, documents, clock, fault];
  }

  /** Adds a text; it is found after `flush` at the latest. */
  async add(collectionId: string, text: IndexedText): Promise<void> {
    const open = await this.#open(collectionId);
    await open.mutex.run(() => this.#add(collectionId, open, text));
  }

  /** Makes all added texts searchable. */
  async flush(collectionId: string): Promise<void> {
    const open = await this.#open(collectionId);
    await open.mutex.run(() => this.#flush(collectionId, open));
  }

  /** Adds stored texts that the index does not have, such as those of another host. */
  async catchUp(collectionId: string): Promise<void> {
    await this.#startCatchUp(collectionId, await this.#open(collectionId));
  }

  /** Whether stored texts are not in the index yet. */
  async isCatchingUp(collectionId: string): Promise<boolean> {
    return (await this.#open(collectionId)).missing > 0;
  }

  /** Whether the index is in memory. */
  isOpen(collectionId: string): boolean {
    return this.#opening.has(collectionId);
  }

  remove(collectionId: string, textId: string): void {
    this.#index.remove(collectionId, textId);
  }

  /** Deletes the index of a collection. */
  async drop(collectionId: string): Promise<void> {
    const open = await this.#opening.get(collectionId)?.catch(() => undefined);
    this.#opening.delete(collectionId);
    const drop = async (): Promise<void> => {
      this.#index.drop(collectionId);
      await (await this.#vault.documents()).dropIndex(collectionId);
    };
    await (open ? open.mutex.run(drop) : drop());
  }

  /** The best passages by words, best first. `textIds`: only passages of these texts. */
  async search(query: string, collectionIds: readonly string[], limit: number, textIds?: ReadonlySet<string>): Promise<PassageHit[]> {
    const open = await Promise.all(collectionIds.map((id) => this.#open(id)));
    await this.#waitBriefly(open.flatMap(({ catchingUp }) => catchingUp ?? []));
    return this.#index.search(query, collectionIds, limit, textIds);
  }

  /** Place of a stored passage; undefined if its text is not searched (any more). */
  findPlace(collectionId: string, textId: string, number: number): PassagePlace | undefined {
    for (const segment of this.#index.getSegments(collectionId)) {
      const place = segment.findPlace(textId, number);
      if (place && this.#isCurrent(place)) return place;
    }
    return undefined;
  }

  stop(): void {
    this.#stopped.abort(new Error('The gateway has stopped.'));
  }

  #open(collectionId: string): Promise<OpenIndex> {
    let opening = this.#opening.get(collectionId);
    if (!opening) {
      opening = this.#load(collectionId);
      this.#opening.set(collectionId, opening);
      opening.catch(() => this.#opening.delete(collectionId));
    }
    return opening;
  }

  async #load(collectionId: string): Promise<OpenIndex> {
    const [rows] = await Promise.all([
      this.#vault.documents().then((store) => store.getSegments(collectionId)),
      this.#documents.load(collectionId),
    ]);
    const open: OpenIndex = {
      ...{ builder: new SegmentBuilder(), building: new Set(), nextSegment: 0, mutex: new Mutex() },
      ...{ missing: 0, catchingUp: undefined },
    };
    const unusable: string[] = [];
    for (const { id, bytes } of rows) {
      const segment = await Segment.restore(id, collectionId, bytes);
      open.nextSegment = Math.max(open.nextSegment, Number(id.slice(id.lastIndexOf('/') + 1)) + 1);
      if (segment) this.#index.replace([], segment, this.#isCurrent);
      else unusable.push(id);
    }
    if (unusable.length > 0) await (await this.#vault.documents()).replaceSegments(unusable);
    // Searches do not wait for many texts.
    void this.#startCatchUp(collectionId, open).catch((error: unknown) => void (this.#stopped.signal.aborted || this.#fault(error)));
    return open;
  }

  #startCatchUp(collectionId: string, open: OpenIndex): Promise<void> {
    const catchingUp = open.mutex.run(() => this.#catchUp(collectionId, open));
    open.catchingUp = catchingUp;
    const end = (): void => {
      if (open.catchingUp === catchingUp) open.catchingUp = undefined;
    };
    catchingUp.then(end, end);
    return catchingUp;
  }

  async #waitBriefly(work: readonly Promise<void>[]): Promise<void> {
    if (work.length === 0) return;
    let cancel = (): void => {};
    const patience = new Promise<void>((resolve) => (cancel = this.#clock.after(MAX_WAIT_MS, resolve)));
    await Promise.race([Promise.allSettled(work), patience]);
    cancel();
  }

  readonly #isCurrent = ({ documentId, textId }: { documentId: string; textId: string }): boolean =>
    this.#documents.peek(documentId)?.text?.id === textId;

  async #catchUp(collectionId: string, open: OpenIndex): Promise<void> {
    const known = new Set(open.building);
    for (const segment of this.#index.getSegments(collectionId))
      for (let text = 0; text < segment.textCount; text++) known.add(segment.getText(text).textId);
    const missing = [...this.#documents.list(collectionId)].filter(({ text }) => text && text.passages > 0 && !known.has(text.id));
    open.missing = missing.length;
    try {
      for (const document of missing) {
        const text = await this.#readText(document);
        // The document may have been changed or removed meanwhile.
        if (text && this.#isCurrent(text)) await this.#add(collectionId, open, text);
      }
      await this.#flush(collectionId, open);
    } finally {
      open.missing = 0;
    }
  }

  /** Undefined if parts are missing: they come later. */
  async #readText({ id, title, text }: CollectionDocumentRecord): Promise<IndexedText | undefined> {
    if (!text) return undefined;
    const parts = await (
      await this.#vault.documents()
    ).getParts(
      text.id,
      Array.from({ length: text.parts }, (_, part) => part),
    );
    const passages = parts.flatMap((record, part) =>
      record ? record.passages.map((passage) => ({ text: toPassageText(record, passage), headings: passage.locator.headings, part })) : [],
    );
    return passages.length === text.passages ? { documentId: id, textId: text.id, title, passages } : undefined;
  }

  async #add(collectionId: string, open: OpenIndex, text: IndexedText): Promise<void> {
    // Catching up may have added it already.
    if (open.building.has(text.textId) || this.#index.hasText(collectionId, text.textId)) return;
    open.building.add(text.textId);
    await open.builder.add(text, this.#createSlicer());
    if (open.builder.size >= MAX_BUILDER_PASSAGES || open.builder.chars >= MAX_BUILDER_CHARS) await this.#flush(collectionId, open);
  }

  async #flush(collectionId: string, open: OpenIndex): Promise<void> {
    const { builder } = open;
    if (builder.size === 0) return;
    [open.builder, open.building] = [new SegmentBuilder(), new Set()];
    await this.#write(collectionId, open, [], await builder.finish(this.#createSlicer()));
    await this.#merge(collectionId, open);
  }

  async #merge(collectionId: string, open: OpenIndex): Promise<void> {
    const tiers = new Map<number, Segment[]>();
    for (const segment of this.#index.getSegments(collectionId)) {
      const alive = Math.max(1, this.#index.countAlive(segment));
      const tier = Math.max(0, Math.floor(Math.log(alive / FIRST_TIER_PASSAGES) / Math.log(TIER_BASE)));
      tiers.set(tier, [...(tiers.get(tier) ?? []), segment]);
    }
    const group = [...tiers.values()].find((segments) => segments.length >= SEGMENTS_PER_TIER);
    if (!group) return;
    const bytes = await mergeSegments(group, (number) => this.#index.isAlive(number), this.#createSlicer());
    const removed = group.map(({ id }) => id);
    await this.#write(collectionId, open, removed, bytes);
    await this.#merge(collectionId, open);
  }

  async #write(collectionId: string, open: OpenIndex, removed: readonly string[], bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const id = `${collectionId}/${String(open.nextSegment++).padStart(10, '0')}`;
    await (await this.#vault.documents()).replaceSegments(removed, { id, bytes });
    // IndexedDB has copied the bytes, which the segment changes.
    const segment = await Segment.restore(id, collectionId, bytes);
    this.#index.replace(removed, segment, this.#isCurrent);
  }

  #createSlicer(): TimeSlicer {
    return new TimeSlicer(this.#stopped.signal);
  }
}
