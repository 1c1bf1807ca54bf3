import { systemClock } from '../../../shared/async/clock.ts';
import { CollectionVectors } from '../../../web/gateway/agent/collections/collection-vectors.ts';
import { Collections } from '../../../web/gateway/agent/collections/collections.ts';
import { splitText } from '../../../web/gateway/agent/collections/document-texts.ts';
import { detachedBridge } from '../../../web/gateway/ports/bridge-interface.ts';
import type { CollectionDocumentRecord, CollectionTextRecord } from '../../../web/gateway/storage/records/collection-records.ts';
import { openVault } from '../../../web/gateway/storage/open-vault.ts';
import { EventBus } from '../../../web/gateway/system/event-bus.ts';
import { createZipfWords } from './zipf-words.ts';

const COLLECTION_ID = 'bench';
const PASSAGE_CHARS = 800;
const BATCH_SIZE = 100;
const QUERY_WORDS = 4;

const opening = openVault({ name: 'bench', clock: systemClock, onclosed: () => {} });

const loading = opening.then(async (vault) =>
  Collections.open({
    ...{ vault, hub: new EventBus(), clock: systemClock, bridge: detachedBridge, sync: undefined },
    reader: { read: () => Promise.reject(new Error()), readPassages: () => Promise.reject(new Error()) },
    vectors: new CollectionVectors({
      store: await vault.documents(),
      createEmbedder: () => {
        throw new Error('There is no model.');
      },
      warn: () => {},
    }),
    allow: () => [],
    isLeaseHolder: () => true,
    fault: (error) => console.error(error),
  }),
);

/** Functions of this worker for the page. */
const api = {
  /** Stores documents without an index, as another host's would arrive. Resolves with the characters of their texts. */
  async seed(documents: number, passagesEach: number): Promise<number> {
    const vault = await opening;
    const settings = { name: 'Bench', description: '', sources: [], keepOriginals: false, embeddingModel: null };
    await vault.collection('collections').put({ id: COLLECTION_ID, ...settings, createdAt: 1, updatedAt: 1, pending: null });
    const draw = createZipfWords(1);
    let chars = 0;
    for (let first = 0; first < documents; first += BATCH_SIZE) {
      const [put, texts]: [CollectionDocumentRecord[], CollectionTextRecord[]] = [[], []];
      for (let number = first; number < Math.min(documents, first + BATCH_SIZE); number++) {
        const id = `${COLLECTION_ID}-${String(number).padStart(6, '0')}`;
        let text = '';
        const passages = Array.from({ length: passagesEach }, () => {
          const start = text.length;
          for (let word = 0; text.length - start < PASSAGE_CHARS; word++) text += `${draw()}${word % 10 === 9 ? '. ' : ' '}`;
          return { text: text.slice(start), locator: { start, end: text.length, headings: [`Chapter ${draw()}`] } };
        });
        chars += text.length;
        const { parts } = splitText(`${id}.t`, text, passages);
        texts.push(...parts);
        put.push({
          ...{ id, collectionId: COLLECTION_ID, sourceId: 'files', path: `${draw()}/${number}.txt`, title: `${draw()} ${draw()}` },
          ...{ mimeType: 'text/plain', size: text.length, modifiedAt: null, addedAt: 1, status: 'indexed', hash: id },
          text: { id: `${id}.t`, indexedAt: 1, parts: parts.length, passages: passages.length, length: text.length },
        });
      }
      await (await vault.documents()).write({ put, texts });
    }
    return chars;
  },

  /** Loads the collection, makes its index if there is none, and searches. */
  async search(seed: number): Promise<{ ms: number; found: number; incomplete: boolean }> {
    const collections = await loading;
    const draw = createZipfWords(seed * 7919);
    const query = Array.from({ length: QUERY_WORDS }, draw).join(' ');
    const start = performance.now();
    const { passages, incomplete } = await collections.search(query, [COLLECTION_ID], 10, new AbortController().signal);
    return { ms: performance.now() - start, found: passages.length, incomplete };
  },

  /** The longest time for which the thread was busy while `work` is awaited: timers are late by it. */
  async watchDelays(ms: number): Promise<number> {
    let longest = 0;
    for (let waited = 0; waited < ms; waited += 5) {
      const start = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 5));
      longest = Math.max(longest, performance.now() - start - 5);
    }
    return longest;
  },

  /** Bytes of the index, which are in memory too, and the number of its segments. */
  async measureIndex(): Promise<{ bytes: number; segments: number }> {
    const segments = await (await (await opening).documents()).getSegments(COLLECTION_ID);
    return { bytes: segments.reduce((sum, { bytes }) => sum + bytes.length, 0), segments: segments.length };
  },
};
export type CollectionsBenchApi = typeof api;

const scope = globalThis as unknown as { onconnect(event: MessageEvent): void };
scope.onconnect = ({ ports: [port] }) => {
  if (!port) return;
  port.onmessage = async ({ data: { id, name, args } }: MessageEvent<{ id: number; name: keyof CollectionsBenchApi; args: never[] }>) => {
    try {
      port.postMessage({ id, value: await (api[name] as (...given: never[]) => Promise<unknown>)(...args) });
    } catch (error) {
      port.postMessage({ id, error: String(error) });
    }
  };
};
