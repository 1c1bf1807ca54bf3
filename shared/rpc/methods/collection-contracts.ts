import { collectionSource, collectionSourceInput, diskPath } from '../collection-source.ts';
import { defineMethod } from '../contract.ts';
import { id } from '../frames.ts';
import { citableSource, passageLocator } from '../passage.ts';
import { createVisibleName } from '../visible-name.ts';
import { z } from '../zod.ts';
import { workspacePath } from '../workspace-file.ts';

/** Limits of collections. */
export const COLLECTION_LIMITS = {
  collections: 200,
  sources: 50,
  /** Documents of one collection. */
  documents: 10_000,
  /** Bytes of a file that the bridge reads or a web page. */
  fileBytes: 25 * 1024 * 1024,
  /** Bytes of a file that a client sends: as base64 it must fit into a frame. */
  sentFileBytes: 18 * 1024 * 1024,
  /** Files in one call. */
  sentFiles: 100,
  /** Characters that `collections.read` returns. */
  readChars: 200_000,
  /** Bytes of an original that one call of `collections.original` returns. */
  originalPartBytes: 8 * 1024 * 1024,
} as const;

/** ID of the source of files that clients send. Every collection has it. */
export const FILES_SOURCE = 'files';

const progress = z.object({
  /** Documents that are done, of those that the current indexing has found so far. */
  done: z.number().int(),
  total: z.number().int(),
  /** Path of the document that is being read. */
  current: z.string().nullable(),
  startedAt: z.number(),
});
/** Progress of indexing. */
export type CollectionProgress = z.infer<typeof progress>;

const collectionState = z.enum(['idle', 'indexing', 'waiting']);

const name = createVisibleName(100);
const description = z.string().trim().max(1000);
const keepOriginals = z.boolean();
const embeddingModel = z.string().min(1).max(300).nullable();

const collection = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  sources: z.array(collectionSource),
  /** Whether the files themselves are kept in the vault, or only their text. */
  keepOriginals: z.boolean(),
  /** Key of the model that computes vectors for search by meaning; null for search by words alone. */
  embeddingModel: z.string().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
  documentCount: z.number().int(),
  /** Documents that could not be read. */
  failedCount: z.number().int(),
  passageCount: z.number().int(),
  /** Bytes of all documents. */
  size: z.number().int(),
  /** `waiting`: indexing goes on when what it needs is there, as `waitingFor` says. */
  state: collectionState,
  /** One sentence. */
  waitingFor: z.string().nullable(),
  /** Null unless documents are being indexed. */
  progress: progress.nullable(),
});
export type Collection = z.infer<typeof collection>;

const documentStatus = z.enum(['waiting', 'indexed', 'failed', 'skipped']);

const document = z.object({
  id: z.string(),
  collectionId: z.string(),
  /** ID of its source; `files` if a client sent it. */
  sourceId: z.string(),
  /** Path in its source, or the address of a web page. */
  path: z.string(),
  title: z.string(),
  url: z.string().nullable(),
  mimeType: z.string(),
  /** Bytes. */
  size: z.number().int(),
  modifiedAt: z.number().nullable(),
  addedAt: z.number(),
  /** When its current text was indexed; null if it has none. */
  indexedAt: z.number().nullable(),
  status: documentStatus,
  /** Why it failed or was skipped, in one sentence. */
  error: z.string().nullable(),
  /** Notes about its text, such as pages without text. */
  notes: z.array(z.string()),
  pageCount: z.number().int().nullable(),
  passageCount: z.number().int(),
  /** Characters of its text. */
  length: z.number().int(),
  /** Whether `collections.original` can return the file itself. */
  hasOriginal: z.boolean(),
});
export type CollectionDocument = z.infer<typeof document>;

const collectionId = id;
const documentId = id;
const collectionIds = z.array(collectionId).max(50);
/** IDs of the collections that an agent or a chat may search. */
export const attachedCollections = collectionIds;
const collectionResult = z.object({ collection });

const passage = z.object({
  ...citableSource.shape,
  collectionId: z.string(),
  documentId: z.string(),
  path: z.string(),
  locator: passageLocator,
});

/** Collections of documents that agents search and cite (docs/decisions/0131-collections.md). */
export const collectionContracts = {
  'collections.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({ collections: z.array(collection), count: z.number().int() }),
    docs: 'Lists the collections by name.',
    policy: { scope: 'read' },
  }),
  'collections.get': defineMethod({
    params: z.strictObject({ collectionId }),
    result: collectionResult,
    docs: 'Returns a collection.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'collections.create': defineMethod({
    params: z.strictObject({
      name,
      description: description.default(''),
      sources: z.array(collectionSourceInput).max(COLLECTION_LIMITS.sources).default([]),
      keepOriginals: keepOriginals.default(true),
      embeddingModel: embeddingModel.default(null),
    }),
    result: collectionResult,
    emits: ['collection.changed', 'collection.progress'],
    docs: 'Creates a collection and starts to index its sources. Only people can add sources on the bridge’s disk and choose an embedding model, and web sources need the scope `web`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'collections.update': defineMethod({
    params: z.strictObject({
      collectionId,
      name: name.optional(),
      description: description.optional(),
      /** Replaces the list of sources. The documents of a source that is left out are removed. */
      sources: z.array(collectionSourceInput).max(COLLECTION_LIMITS.sources).optional(),
      keepOriginals: keepOriginals.optional(),
      embeddingModel: embeddingModel.optional(),
    }),
    result: collectionResult,
    emits: ['collection.changed', 'collection.progress'],
    docs: 'Changes a collection. New and changed sources are indexed. `keepOriginals: true` keeps files that are indexed from then on; `false` deletes those that are kept. Only people can add or change sources on the bridge’s disk and choose an embedding model, and web sources need the scope `web`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'collections.delete': defineMethod({
    params: z.strictObject({ collectionId }),
    result: z.object({ deleted: z.literal(true) }),
    emits: ['collection.changed'],
    docs: 'Deletes a collection with its documents and index permanently. Files on disk are not changed.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'collections.documents': defineMethod({
    params: z.strictObject({
      collectionId,
      status: documentStatus.optional(),
      /** Text that the path or the title contains. */
      query: z.string().max(300).optional(),
      sourceId: id.optional(),
      limit: z.number().int().min(1).max(500).default(100),
      cursor: z
        .string()
        .regex(/^\d{1,6}$/, 'must be a cursor from collections.documents')
        .optional(),
    }),
    result: z.object({ documents: z.array(document), total: z.number().int(), cursor: z.string().nullable() }),
    docs: 'Lists documents by path, in pages: pass `cursor` to get the next one. `total` is the number of all that match.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'collections.folders': defineMethod({
    params: z.strictObject({
      /** The user’s home folder by default. */
      path: diskPath.optional(),
    }),
    result: z.object({
      path: z.string(),
      /** Null at the top of the disk. */
      parent: z.string().nullable(),
      /** Names of folders, without hidden ones. */
      folders: z.array(z.string()),
      /** Names of mail files (`.mbox`). */
      files: z.array(z.string()),
      /** Whether there are more. */
      truncated: z.boolean(),
    }),
    docs: 'Lists the folders in a folder on the bridge’s disk, to choose one as a source. Only for people.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'collections.addFiles': defineMethod({
    params: z.strictObject({
      collectionId,
      files: z
        .array(
          z.strictObject({
            /** Name, with folders separated by `/`. A file with the same path is replaced. */
            path: workspacePath,
            mimeType: z.string().max(200).default(''),
            /** Base64. */
            data: z.string(),
            modifiedAt: z.number().optional(),
          }),
        )
        .min(1)
        .max(COLLECTION_LIMITS.sentFiles),
    }),
    result: z.object({ documents: z.array(document) }),
    emits: ['collection.changed', 'collection.progress'],
    docs: `Adds files to a collection and starts to index them. A file may have up to ${COLLECTION_LIMITS.sentFileBytes / 2 ** 20} MiB, and all files of a call together as much. Files that have not changed are not indexed again.`,
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'collections.removeDocuments': defineMethod({
    params: z.strictObject({ collectionId, documentIds: z.array(documentId).min(1).max(COLLECTION_LIMITS.documents) }),
    result: z.object({ removed: z.number().int() }),
    emits: ['collection.changed'],
    docs: 'Removes documents that clients have sent. Those of other sources would return: exclude them in the source.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'collections.refresh': defineMethod({
    params: z.strictObject({
      collectionId,
      /** Only this source. */
      sourceId: id.optional(),
      /** Also try again to read documents that failed. */
      retryFailed: z.boolean().default(true),
    }),
    result: collectionResult,
    emits: ['collection.changed', 'collection.progress'],
    docs: 'Looks for new, changed and removed documents in the sources and indexes them.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'collections.cancel': defineMethod({
    params: z.strictObject({ collectionId }),
    result: collectionResult,
    emits: ['collection.changed', 'collection.progress'],
    docs: 'Stops indexing. Documents that are indexed stay; `collections.refresh` continues with the others.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'collections.search': defineMethod({
    params: z.strictObject({
      query: z.string().max(1000).regex(/\S/, 'must contain a word'),
      /** All collections by default. */
      collectionIds: collectionIds.optional(),
      limit: z.number().int().min(1).max(50).default(10),
    }),
    result: z.object({
      passages: z.array(
        z.object({
          ...passage.shape,
          collectionName: z.string(),
          /** Relevance from 0 to 1, compared with the best result. */
          score: z.number(),
          /** Start and end of each matching word in `text`, in UTF-16 code units. */
          matches: z.array(z.tuple([z.number(), z.number()])),
        }),
      ),
      /** Whether meaning was compared too. */
      semantic: z.boolean(),
      /** Some documents are not indexed yet. */
      incomplete: z.boolean(),
    }),
    docs: 'Searches the passages of collections by words and, if they have an embedding model, by meaning. Returns the best first.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'collections.read': defineMethod({
    params: z.strictObject({
      documentId,
      /** Start, in UTF-16 code units of the document's text. */
      offset: z.number().int().min(0).default(0),
      limit: z.number().int().min(1).max(COLLECTION_LIMITS.readChars).default(20_000),
      /** Start at this page, slide or sheet number instead. */
      page: z.number().int().positive().optional(),
      /** Start at this heading instead. */
      heading: z.string().max(500).optional(),
    }),
    result: z.object({
      document,
      text: z.string(),
      offset: z.number().int(),
      /** `offset` of the next part; null at the end. */
      next: z.number().int().nullable(),
      /** Passages in this part, also those that begin or end outside it: `number` as in the ID `<documentId>#<number>`. */
      passages: z.array(z.object({ number: z.number().int(), locator: passageLocator })),
    }),
    docs: 'Returns a part of a document’s text, as it was indexed, and its passages.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'collections.original': defineMethod({
    params: z.strictObject({
      documentId,
      /** Bytes to skip. */
      offset: z.number().int().min(0).default(0),
    }),
    result: z.object({
      filename: z.string(),
      mimeType: z.string(),
      /** Bytes of the whole file. */
      size: z.number().int(),
      /** Base64. */
      data: z.string(),
      /** `offset` of the next part; null at the end. */
      next: z.number().int().nullable(),
    }),
    docs: `Returns the file of a document, in parts of up to ${COLLECTION_LIMITS.originalPartBytes / 2 ** 20} MiB: the one kept in the vault, or else the one on the bridge’s disk.`,
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
};

/** Payloads of the events of collections. */
export const collectionEvents = {
  /** A collection, or the list of its documents, was changed. Sent at most once a second while documents are indexed. */
  'collection.changed': z.object({ collectionId: z.string(), deleted: z.boolean().optional() }),
  /** Indexing starts, continues or ends. Sent at most four times a second. */
  'collection.progress': z.object({
    collectionId: z.string(),
    state: collectionState,
    waitingFor: z.string().nullable(),
    progress: progress.nullable(),
  }),
} as const;
