import type { GenerationOptions } from '../../../providers/provider.ts';
import { WEB_SEARCH_TOOL } from '../../../agent/web-search/search-result.ts';
import type { HttpDeps } from '../http-deps.ts';
import { badRequest } from '../http-error.ts';
import type { IgnoredFields } from '../ignored-fields.ts';
import { MAX_SEARCHES, type SearchOptions } from '../search/search-options.ts';
import type { ResponseRequest } from './responses-request.ts';

export interface SettledSearch {
  /** Limits of the searches that Perch runs for the model; undefined if the model can't search. */
  limits: SearchOptions | undefined;
  /** Without a choice among tools if there are none. */
  options: GenerationOptions;
}

/**
 * Settles the hosted web search of a request: an agent runs its own, and Perch runs it for a model. Otherwise it is ignored. Throws a 400
 * if the request forces it and it can't run.
 */
export async function settleSearch(
  { tools, generationOptions: options, maxToolCalls }: ResponseRequest,
  { agentId, principal, ignored }: { agentId: string | undefined; principal: string; ignored: IgnoredFields },
  { canSearch, webSearch }: Pick<HttpDeps, 'canSearch' | 'webSearch'>,
): Promise<SettledSearch> {
  const search = await tools.settleSearch(
    async () => (agentId === undefined ? webSearch?.isAvailable(principal) : canSearch?.(agentId, principal)) ?? false,
    ignored,
  );
  if (search && agentId === undefined)
    return { limits: { ...search, maxSearches: Math.min(maxToolCalls ?? MAX_SEARCHES, MAX_SEARCHES) }, options };
  if (maxToolCalls !== undefined) ignored.add('max_tool_calls');
  const { toolChoice } = options;
  const isForced = typeof toolChoice === 'object' ? toolChoice.name === WEB_SEARCH_TOOL && !tools.has('function', WEB_SEARCH_TOOL) : false;
  if (isForced || (toolChoice === 'required' && tools.specs.length === 0))
    throw badRequest(
      agentId === undefined
        ? '`tool_choice` requires a web search, which is not set up here or not allowed for this key.'
        : '`tool_choice` can’t force an agent’s own web search.',
      'tool_choice',
    );
  return {
    limits: undefined,
    options: tools.specs.length > 0 ? options : { ...options, toolChoice: undefined, parallelToolCalls: undefined },
  };
}
