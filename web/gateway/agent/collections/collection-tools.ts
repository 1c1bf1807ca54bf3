import type { CitableSource } from '#shared/rpc/passage.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import type { CollectionRecord } from '../../storage/records/collection-records.ts';
import type { Lazy } from '../../system/modules.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Tool, ToolContext } from '../tools/tool-registry.ts';
import { toCollectionSource } from '../trust/content-sources.ts';
import { hasCollections } from './attached-collections.ts';
import type { Collections } from './collections.ts';
import { toPassageId } from './document-texts.ts';
import { CITE_NOTE, PASSAGES_NOTE, toModelPassage, toModelPassages } from './model-passages.ts';

/** Characters of one result of `collection_read`. */
const MAX_READ_CHARS = 16_000;

/** Tools that search and read the collections attached to an agent or its chat. */
export function collectionTools({ collections }: { collections: Lazy<Collections> }): Tool[] {
  /** The attached collections that exist; with `name`, the one with this name or ID. */
  const findAttached = async ({ collections: attached = [] }: ToolContext, name?: string): Promise<CollectionRecord[]> => {
    const all = (await collections.load()).listRecords(attached);
    if (all.length === 0) throw new RpcError('NOT_FOUND', 'No collection is attached to this agent or chat.');
    if (name === undefined) return all;
    const wanted = name.trim().toLowerCase();
    const found = all.filter((each) => each.id === name || each.name.toLowerCase() === wanted);
    if (found.length > 0) return found;
    throw new RpcError(
      'NOT_FOUND',
      `No attached collection is named “${name}”. Attached: ${all.flatMap((each) => (each.isUnreviewed ? [] : each.name)).join(', ')}.`,
    );
  };
  const cite = (context: ToolContext, read: readonly CollectionRecord[], sources: readonly CitableSource[]): (number | undefined)[] => {
    context.taint?.add(read.map(({ name }) => toCollectionSource(name)));
    return context.cite?.(sources) ?? sources.map(() => undefined);
  };
  return [
    defineTool({
      name: 'collection_search',
      title: 'Search collections',
      summary: 'Searches the passages of attached collections.',
      description: `Searches the documents of the attached collections and returns the best passages. ${CITE_NOTE}`,
      source: 'core',
      scope: 'collections',
      impact: 'reads',
      isOffered: hasCollections,
      params: z.strictObject({
        query: z.string().trim().min(1).max(1000).describe('Words, or a question'),
        collection: z.string().max(200).optional().describe('Name, if only one of several'),
        limit: z.number().int().min(1).max(20).default(8),
      }),
      async run({ query, collection, limit }, context) {
        const attached = await findAttached(context, collection);
        const loaded = await collections.load();
        const found = await loaded.search(
          query,
          attached.map(({ id }) => id),
          limit,
          context.signal,
        );
        const used = attached.filter(({ id }) => found.passages.some(({ collectionId }) => collectionId === id));
        return toModelPassages(found, (sources) => cite(context, used, sources));
      },
    }),
    defineTool({
      name: 'collection_read',
      title: 'Read collection document',
      summary: 'Reads a document of an attached collection.',
      description: `Reads a document that collection_search has found, from its start or from a page, heading or offset. ${CITE_NOTE}`,
      source: 'core',
      scope: 'collections',
      impact: 'reads',
      isOffered: hasCollections,
      params: z.strictObject({
        document: z.string().min(1).max(1000).describe('"document" or "path" of a passage'),
        page: z.number().int().positive().optional(),
        heading: z.string().max(500).optional(),
        offset: z.number().int().min(0).default(0).describe('As given in "next"'),
      }),
      async run({ document: wanted, ...place }, context) {
        const attached = await findAttached(context);
        const loaded = await collections.load();
        const id = await loaded.findDocument(
          attached.map((each) => each.id),
          wanted,
        );
        const { document, passages, next } = await loaded.read(id, { ...place, limit: MAX_READ_CHARS });
        const sources = passages.map(({ number, locator, text }): CitableSource => ({
          ...{ id: toPassageId(id, number), kind: 'passage', title: document.title, text },
          ...(document.url === null ? {} : { url: document.url }),
          ...{ collectionId: document.collectionId, documentId: id, path: document.path, locator },
        }));
        const refs = cite(
          context,
          attached.filter((each) => each.id === document.collectionId),
          sources,
        );
        return {
          ...{ document: id, title: document.title, path: document.path },
          ...(document.pageCount === null ? {} : { pages: document.pageCount }),
          note: PASSAGES_NOTE,
          passages: sources.map((passage, index) => toModelPassage(refs[index], passage)),
          ...(next === null ? {} : { next }),
        };
      },
    }),
  ];
}
