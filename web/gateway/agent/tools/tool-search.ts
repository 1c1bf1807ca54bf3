import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Agent } from '../agents.ts';
import { TextIndex } from '../../knowledge/search/text-index.ts';
import { toOffer, toSpec } from './tool-offer.ts';
import type { Tool } from './tool-registry.ts';
import { getToolGroup } from './tool-groups.ts';
import { TOOL_KEYWORDS } from './tool-keywords.ts';

/** Maximum number of tools in one result: a model compares them, and each schema costs tokens. */
const MAX_RESULTS = 5;
const MAX_QUERY_CHARS = 1000;
/** Maximum number of names in the result if nothing matches. */
const MAX_NAMES = 200;

/** The best matching tools, in order. */
export function searchTools(tools: readonly Tool[], query: string, limit = MAX_RESULTS): Tool[] {
  const index = TextIndex.create(tools, (tool) => {
    const { name, title, summary, description, schema } = tool;
    return [
      // Splits `create_issue`, `createIssue` and `mcp:github:create_issue` into the same words.
      { text: name.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll(/[_:./-]+/g, ' '), weight: 3 },
      { text: title, weight: 3 },
      { text: TOOL_KEYWORDS.get(name) ?? '', weight: 3 },
      { text: `${summary} ${description}`, weight: 1 },
      { text: getToolGroup(tool), weight: 1 },
      { text: toParameterText(schema), weight: 1 },
    ];
  });
  return index.search(query, limit).map(({ doc }) => doc);
}

/** Runs `tool_search`. Throws `INVALID_PARAMS` if there is no query. */
export function runToolSearch(
  reachable: readonly Tool[],
  { agent, only }: { agent: Agent; only?: readonly string[] | undefined },
  args: Record<string, unknown>,
): unknown {
  const query = typeof args['query'] === 'string' ? args['query'].trim().slice(0, MAX_QUERY_CHARS) : '';
  if (query === '') throw new RpcError('INVALID_PARAMS', 'Invalid arguments for tool_search: `query` is required.');
  const offered = new Set(toOffer(reachable, agent, only).tools.map(({ name }) => name));
  const found = searchTools(reachable, query).map(toSpec);
  if (found.length > 0)
    return {
      // The model already has the schema of a tool in its request.
      tools: found.map(({ name, description, schema }) =>
        offered.has(name) ? { name, description } : { name, description, parameters: schema },
      ),
    };
  const names = reachable.map(toSpec).flatMap(({ name }) => (offered.has(name) ? [] : [name]));
  return { tools: [], note: 'Nothing matches. Search for one of these names to get its parameters.', names: names.slice(0, MAX_NAMES) };
}

/** Names and descriptions of the parameters. */
function toParameterText({ properties }: Tool['schema']): string {
  if (typeof properties !== 'object' || properties === null) return '';
  return Object.entries(properties)
    .map(([name, description]: [string, unknown]) => {
      const text = typeof description === 'object' && description !== null && 'description' in description ? description.description : '';
      return `${name.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll('_', ' ')} ${typeof text === 'string' ? text.slice(0, 200) : ''}`;
    })
    .join(' ');
}
