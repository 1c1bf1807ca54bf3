import { allowsScope, type Area } from '#shared/rpc/scopes.ts';
import type { Agent } from '../../../agent/agents.ts';
import { withCollections } from '../../../agent/collections/attached-collections.ts';
import type { FoundPassages } from '../../../agent/collections/collection-search.ts';
import type { Collections } from '../../../agent/collections/collections.ts';
import type { ToolRegistry } from '../../../agent/tools/tool-registry.ts';
import type { ContentLabels } from '../../../agent/trust/content-labels.ts';
import { TaintedReplies } from '../../../agent/trust/tainted-replies.ts';
import type { SearchQuery } from '../../../agent/web-search/search-service.ts';
import type { FoundResults, WebSearch } from '../../../agent/web-search/web-search.ts';
import type { Config } from '../../../config/gateway-config.ts';
import type { CollectionDocumentRecord, CollectionRecord } from '../../../storage/records/collection-records.ts';
import type { Lazy } from '../../../system/modules.ts';
import type { CallerRights } from '../../access/caller-rights.ts';
import { type DocumentAttributes, type DocumentFilter, matchesFilter, toAttributes } from './document-filter.ts';

/** A search of collections for a model. */
interface FileQuery {
  query: string;
  collectionIds: readonly string[];
  limit: number;
  /** Only documents that match. */
  filter: DocumentFilter | undefined;
}

interface FoundFiles {
  passages: { passage: FoundPassages['passages'][number]; attributes: DocumentAttributes }[];
  /** Whether some documents are not indexed yet. */
  incomplete: boolean;
}

/** Searches that Perch runs for the models of API clients. */
export interface ModelSearches {
  /** By the service that the owner has chosen. */
  web: {
    /** Whether one is set up, and the caller may use it. */
    isAvailable(principal: string): Promise<boolean>;
    /** Rejects with `RpcError`. */
    search(query: SearchQuery, principal: string, signal: AbortSignal): Promise<Pick<FoundResults, 'results' | 'note'>>;
  };
  /** In the vault's collections. */
  files: {
    /** Whether the caller may search collections. */
    isAvailable(principal: string): Promise<boolean>;
    /** Whether an agent may search these collections for a caller. */
    canAttach(agentId: string, collectionIds: readonly string[], principal: string): Promise<boolean>;
    /** The collections with each ID or name. */
    find(names: readonly string[]): Promise<CollectionRecord[][]>;
    /** Rejects with `RpcError`. */
    search(query: FileQuery, principal: string, signal: AbortSignal): Promise<FoundFiles>;
  };
  /** Remembers what influenced these texts of an answer, for an agent that gets them back as earlier turns. */
  label(texts: readonly string[], outside: readonly string[]): Promise<void>;
}

interface ModelSearchesDeps {
  config: Pick<Config, 'settings'>;
  rights: Pick<CallerRights, 'scopes' | 'recordScopeUse'>;
  webSearch: Lazy<Pick<WebSearch, 'search'>>;
  collections: Lazy<Pick<Collections, 'ids' | 'listRecords' | 'getRecord' | 'getDocument' | 'search'>>;
  tools: Pick<ToolRegistry, 'listOffered'>;
  agent(id: string): Agent;
  labels: ContentLabels;
}

/** A key needs the scopes of `web.search` and `collections.search`. */
export function createModelSearches({ config, rights, webSearch, collections, tools, agent, labels }: ModelSearchesDeps): ModelSearches {
  const replies = new TaintedReplies(labels);
  const mayUse = async (principal: string, area: Area): Promise<boolean> => {
    const scopes = await rights.scopes(principal);
    return scopes === undefined || allowsScope(scopes, area);
  };
  return {
    web: {
      isAvailable: async (principal) => config.settings.tools.webSearch !== undefined && mayUse(principal, 'web'),
      async search(query, principal, signal) {
        rights.recordScopeUse(principal, 'web');
        return (await webSearch.load()).search(query, signal, { principal, sessionKey: null });
      },
    },
    files: {
      isAvailable: (principal) => mayUse(principal, 'collections'),
      canAttach: async (agentId, collectionIds, principal) =>
        (await tools.listOffered(withCollections(agent(agentId), collectionIds), principal)).some(
          ({ name }) => name === 'collection_search',
        ),
      async find(names) {
        const loaded = await collections.load();
        const all = loaded.listRecords(loaded.ids);
        return names.map((name) => {
          const wanted = name.trim().toLowerCase();
          const byId = all.filter(({ id }) => id === name);
          return byId.length > 0 ? byId : all.filter((each) => each.name.toLowerCase() === wanted);
        });
      },
      async search({ query, collectionIds, limit, filter }, principal, signal) {
        rights.recordScopeUse(principal, 'collections');
        const loaded = await collections.load();
        const getAttributes = (document: CollectionDocumentRecord): DocumentAttributes =>
          toAttributes(document, loaded.getRecord(document.collectionId).name);
        const isWanted = filter && ((document: CollectionDocumentRecord) => matchesFilter(filter, getAttributes(document)));
        const { passages, incomplete } = await loaded.search(query, collectionIds, limit, signal, isWanted);
        return {
          incomplete,
          passages: await Promise.all(
            passages.map(async (passage) => ({ passage, attributes: getAttributes(await loaded.getDocument(passage.documentId)) })),
          ),
        };
      },
    },
    label: (texts, outside) => replies.add(texts, outside),
  };
}
