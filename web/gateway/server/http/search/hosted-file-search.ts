import { z } from '#shared/rpc/zod.ts';
import { toModelPassages } from '../../../agent/collections/model-passages.ts';
import { toModelSchema } from '../../../agent/tools/model-schema.ts';
import { toCollectionSource } from '../../../agent/trust/content-sources.ts';
import type { CollectionRecord } from '../../../storage/records/collection-records.ts';
import type { DocumentAttributes, DocumentFilter } from './document-filter.ts';
import { type HostedSearch, parseSearchArgs, type SearchCall } from './hosted-search.ts';
import type { ModelSearches } from './model-searches.ts';

export const FILE_SEARCH_TOOL = 'file_search';

/** Maximum number of passages that a search finds, unless the request sets another one. */
const DEFAULT_RESULTS = 10;

/** Limits that a request sets for its searches of collections. */
export interface FileSearchOptions {
  maxResults: number | undefined;
  /** Minimum score: 0 to 1. */
  minScore: number;
  filter: DocumentFilter | undefined;
}

/** A passage that a search found, as the answer shows it to the client. */
export interface FoundFile {
  documentId: string;
  path: string;
  text: string;
  score: number;
  attributes: DocumentAttributes;
}

/** A search of collections for a model, which the answer shows to the client. */
export type FileSearchEvent =
  | ({ type: 'file_search_started' } & SearchCall)
  /** `failure`: why there are no results. */
  | ({ type: 'file_search_ended'; results: readonly FoundFile[]; failure?: string } & SearchCall);

interface HostedFileSearchOptions {
  collections: readonly CollectionRecord[];
  options: FileSearchOptions;
  principal: string;
  signal: AbortSignal;
  files: ModelSearches['files'];
}

const fileQuery = z.strictObject({ query: z.string().trim().min(1).max(1000).describe('Words, or a question') });
const schema = toModelSchema(z.toJSONSchema(fileQuery, { io: 'input' }));

/** Searches collections for the model of an answer. */
export function createHostedFileSearch({
  collections,
  options: { maxResults = DEFAULT_RESULTS, minScore, filter },
  principal,
  signal,
  files,
}: HostedFileSearchOptions): HostedSearch<FileSearchEvent> {
  // A key with limited scopes may have written the other names.
  const names = collections.flatMap(({ name, isUnreviewed }) => (isUnreviewed ? [] : `“${name}”`)).join(', ');
  return {
    spec: {
      name: FILE_SEARCH_TOOL,
      description: `Searches the user’s documents${names === '' ? '' : ` in ${names}`} and returns the best passages. Cite passages that you use by their number (\`ref\`) in brackets, such as [2].`,
      schema,
    },
    toStarted: (call) => ({ type: 'file_search_started', ...call }),
    toFailed: (call, failure) => ({ type: 'file_search_ended', ...call, results: [], failure }),
    async search(call, args) {
      const { query } = parseSearchArgs(fileQuery, args);
      const found = await files.search(
        { query, collectionIds: collections.map(({ id }) => id), limit: maxResults, filter },
        principal,
        signal,
      );
      const wanted = found.passages.filter(({ passage }) => passage.score >= minScore);
      const passages = wanted.map(({ passage }) => passage);
      return {
        event: {
          ...{ type: 'file_search_ended', ...call },
          results: wanted.map(({ passage: { documentId, path, text, score }, attributes }) => ({
            ...{ documentId, path, text, score, attributes },
          })),
        },
        toResult: (cite) => toModelPassages({ passages, incomplete: found.incomplete }, cite),
        outside: passages.map(({ collectionName }) => toCollectionSource(collectionName)),
      };
    },
  };
}
