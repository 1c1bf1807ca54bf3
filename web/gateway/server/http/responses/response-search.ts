import type { GenerationOptions } from '../../../providers/provider.ts';
import type { CollectionRecord } from '../../../storage/records/collection-records.ts';
import { WEB_SEARCH_TOOL } from '../../../agent/web-search/search-result.ts';
import type { HttpDeps } from '../http-deps.ts';
import { badRequest, HttpError } from '../http-error.ts';
import { createHostedFileSearch, FILE_SEARCH_TOOL } from '../search/hosted-file-search.ts';
import type { HostedSearch } from '../search/hosted-search.ts';
import { createHostedWebSearch } from '../search/hosted-web-search.ts';
import type { ModelSearches } from '../search/model-searches.ts';
import { MAX_SEARCHES } from '../search/search-options.ts';
import type { HostedTool } from './hosted-tools.ts';
import type { ResponseCall } from './model-source.ts';
import type { SearchEvent } from './output-builder.ts';

export interface SettledSearches {
  /** Searches that Perch runs for a model. */
  searches: HostedSearch<SearchEvent>[];
  maxSearches: number;
  /** IDs of the collections that are attached to an agent for this answer. */
  collections: string[];
  /** Without a choice among tools if there are none. */
  options: GenerationOptions;
}

type SearchingCall = Pick<ResponseCall, 'asked' | 'messages' | 'principal' | 'signal' | 'ignored'>;
type SearchDeps = Pick<HttpDeps, 'canSearch' | 'searches'>;

/**
 * Settles the hosted searches of a request: Perch runs them for a model, and an agent searches on its own, also in the named collections.
 * Tools that can't run are ignored. Throws a 400 if the request forces one of them, and a 404 for an unknown collection.
 */
export async function settleSearches(
  call: SearchingCall,
  { agentId, sessionId }: { agentId: string | undefined; sessionId: string | undefined },
  deps: SearchDeps,
): Promise<SettledSearches> {
  const { tools, maxToolCalls, generationOptions: options } = call.asked;
  const searches = agentId === undefined ? await createSearches(call, deps) : [];
  const collections = agentId === undefined ? [] : await attachCollections(call, { agentId, sessionId }, deps);
  if (searches.length === 0 && maxToolCalls !== undefined) call.ignored.add('max_tool_calls');
  const { toolChoice } = options;
  const forced = typeof toolChoice === 'object' ? toolChoice.name : undefined;
  const callable = [...tools.specs, ...searches.map(({ spec }) => spec)].map(({ name }) => name);
  const canCall = callable.length > 0;
  if (forced === undefined ? toolChoice === 'required' && !canCall : !callable.includes(forced))
    throw badRequest(explainChoice(forced, agentId), 'tool_choice');
  return {
    searches,
    maxSearches: Math.min(maxToolCalls ?? MAX_SEARCHES, MAX_SEARCHES),
    collections,
    options: canCall ? options : { ...options, toolChoice: undefined, parallelToolCalls: undefined },
  };
}

/** The searches that Perch runs for a model. */
async function createSearches(
  { asked: { tools }, messages, principal, signal, ignored }: SearchingCall,
  { searches }: SearchDeps,
): Promise<HostedSearch<SearchEvent>[]> {
  const web = await tools.settleHosted(WEB_SEARCH_TOOL, async () => (await searches?.web.isAvailable(principal)) ?? false, ignored);
  const files = await tools.settleHosted(FILE_SEARCH_TOOL, async () => (await searches?.files.isAvailable(principal)) ?? false, ignored);
  if (!searches) return [];
  return [
    ...(web ? [createHostedWebSearch({ domains: web.domains, messages, principal, signal, web: searches.web })] : []),
    ...(files
      ? [
          createHostedFileSearch({
            ...{ collections: await findCollections(files, searches.files), options: files.options },
            ...{ principal, signal, files: searches.files },
          }),
        ]
      : []),
  ];
}

/** IDs of the collections that an agent searches for this answer. A session has its own, and an agent can't filter documents. */
async function attachCollections(
  { asked: { tools }, principal, ignored }: SearchingCall,
  { agentId, sessionId }: { agentId: string; sessionId: string | undefined },
  { canSearch, searches }: SearchDeps,
): Promise<string[]> {
  await tools.settleHosted(WEB_SEARCH_TOOL, async () => (await canSearch?.(agentId, principal)) ?? false, ignored);
  let ids: string[] = [];
  const settled = await tools.settleHosted(
    FILE_SEARCH_TOOL,
    async (tool) => {
      if (!searches || sessionId !== undefined || tool.options.filter || !(await searches.files.isAvailable(principal))) return false;
      ids = (await findCollections(tool, searches.files)).map(({ id }) => id);
      return searches.files.canAttach(agentId, ids, principal);
    },
    ignored,
  );
  if (!settled) return [];
  const { path, options } = settled;
  if (options.maxResults !== undefined) ignored.add(`${path}.max_num_results`);
  if (options.minScore > 0) ignored.add(`${path}.ranking_options`);
  return ids;
}

/** The named collections. Throws a 404 that names the first one that does not exist. */
async function findCollections(
  { path, collections: names }: Extract<HostedTool, { name: typeof FILE_SEARCH_TOOL }>,
  files: ModelSearches['files'],
): Promise<CollectionRecord[]> {
  const found = await files.find(names);
  const missing = found.findIndex((records) => records.length === 0);
  if (missing === -1) return [...new Set(found.flat())];
  const param = `${path}.vector_store_ids[${missing}]`;
  throw new HttpError(404, 'not_found', `No collection with the ID or name "${names[missing]}" (\`${param}\`).`, { param });
}

/** Why a forced tool can't run. */
function explainChoice(forced: string | undefined, agentId: string | undefined): string {
  if (agentId !== undefined) return '`tool_choice` can’t force an agent’s own search.';
  if (forced === WEB_SEARCH_TOOL) return '`tool_choice` requires a web search, which is not set up here or not allowed for this key.';
  if (forced === FILE_SEARCH_TOOL) return '`tool_choice` requires a file search, which is not allowed for this key.';
  return '`tool_choice` requires a tool, but none of this request can run here.';
}
