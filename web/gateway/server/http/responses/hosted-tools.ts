import { z } from '#shared/rpc/zod.ts';
import { WEB_SEARCH_TOOL } from '../../../agent/web-search/search-result.ts';
import type { IgnoredFields } from '../ignored-fields.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import { documentFilter } from '../search/document-filter.ts';
import { FILE_SEARCH_TOOL, type FileSearchOptions } from '../search/hosted-file-search.ts';
import type { SearchDomains } from '../search/search-options.ts';

/** Types of hosted tools that search the web, with or without a version, such as `web_search_2025_08_26`. */
const WEB_SEARCH_TYPE = /^web_search(_preview)?(_\d{4}_\d\d_\d\d)?$/;

const domains = z.array(z.string().min(1).max(253)).max(100).nullish();
const webSearchTool = z.looseObject({
  filters: z.looseObject({ allowed_domains: domains, blocked_domains: domains }).nullish(),
  /** False: only pages that the provider has stored. */
  external_web_access: z.boolean().nullish(),
});
const fileSearchTool = z.looseObject({
  vector_store_ids: z.array(z.string().min(1).max(200)).min(1).max(50),
  max_num_results: z.number().int().min(1).max(50).nullish(),
  ranking_options: z.looseObject({ score_threshold: z.number().min(0).max(1).nullish(), hybrid_search: z.unknown().optional() }).nullish(),
  filters: documentFilter.nullish(),
});

/** Names by which models know the hosted tools that Perch runs. */
export type HostedToolName = HostedTool['name'];

/** A hosted tool of a request that Perch can run, with its path in the request. */
export type HostedTool = { path: string; tool: unknown } & (
  | { name: typeof WEB_SEARCH_TOOL; domains: SearchDomains }
  | {
      name: typeof FILE_SEARCH_TOOL;
      /** IDs or names of collections. */
      collections: readonly string[];
      options: FileSearchOptions;
    }
);

/** The name of the hosted tool with this type; undefined if Perch can't run it. */
export function toHostedToolName(type: string): HostedToolName | undefined {
  if (type === FILE_SEARCH_TOOL) return type;
  return WEB_SEARCH_TYPE.test(type) ? WEB_SEARCH_TOOL : undefined;
}

/** Reads a hosted tool; undefined if Perch can't run it. Throws a 400 for invalid fields. */
export function readHostedTool(
  type: string,
  tool: unknown,
  { toolPath, path, ignored }: { toolPath: readonly (string | number)[]; path: string; ignored: IgnoredFields },
): HostedTool | undefined {
  const name = toHostedToolName(type);
  if (name === WEB_SEARCH_TOOL) {
    const { filters, external_web_access } = parseHttpParams(webSearchTool, tool, toolPath);
    if (external_web_access === false) return undefined;
    return { path, tool, name, domains: { allowed: filters?.allowed_domains ?? [], blocked: filters?.blocked_domains ?? [] } };
  }
  if (name === undefined) return undefined;
  const { vector_store_ids, max_num_results, ranking_options, filters } = parseHttpParams(fileSearchTool, tool, toolPath);
  if (ranking_options?.hybrid_search != null) ignored.add(`${path}.ranking_options.hybrid_search`);
  const options = {
    maxResults: max_num_results ?? undefined,
    minScore: ranking_options?.score_threshold ?? 0,
    filter: filters ?? undefined,
  };
  return { path, tool, name, collections: vector_store_ids, options };
}
