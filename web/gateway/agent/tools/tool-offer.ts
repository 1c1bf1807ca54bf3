import { MCP_GROUP_PREFIX } from '#shared/tool-groups.ts';
import { matchesWildcard } from '#shared/wildcard.ts';
import type { Agent } from '../agents.ts';
import type { ToolSpec } from '../../providers/provider.ts';
import { toModelSchema } from './model-schema.ts';
import type { Tool } from './tool-registry.ts';
import { SEARCH_SPECS } from './search-specs.ts';
import { getToolGroup } from './tool-groups.ts';

/** Tools of a run: those in each of its requests, and those that its model finds by search. */
export interface ToolOffer {
  tools: ToolSpec[];
  deferred: ToolSpec[];
}

/** An agent with few tools gets all of them at once: up to this many characters of JSON, about 2,500 tokens. */
const MAX_CHARS = 10_000;

/** Tools in each request of an agent whose settings name no groups. */
const DEFAULT_TOOLS: ReadonlySet<string> = new Set([
  'collection_read',
  'collection_search',
  'cron_add',
  'cron_list',
  'docs_search',
  'exec',
  'file_list',
  'file_read',
  'file_write',
  'memory_add',
  'memory_search',
  'message_send',
  'read_docx',
  'read_pdf',
  'read_pptx',
  'read_text',
  'read_xlsx',
  'send_file',
  'session_search',
  'skill_read',
  'web_fetch',
  'web_search',
]);

/** A tool as sent to models. */
export const toSpec = ({ name, modelName = name, description, schema, source }: Tool): ToolSpec => ({
  name: modelName,
  description,
  schema: source.startsWith(MCP_GROUP_PREFIX) ? schema : toModelSchema(schema),
});

/**
 * Divides the tools that an agent may use. The tools in each request depend only on the settings, so that they stay the same for a whole
 * chat: tools of MCP servers, which come and go, are deferred unless the agent's groups include their server, and then come last.
 */
export function toOffer(reachable: readonly Tool[], { config }: Pick<Agent, 'config'>, only?: readonly string[]): ToolOffer {
  const groups = config.toolGroups;
  const isOfServer = ({ source }: Tool): boolean => source.startsWith(MCP_GROUP_PREFIX);
  const own = reachable.filter((tool) => !isOfServer(tool));
  const isFew = groups === undefined && JSON.stringify(own.map(toSpec)).length <= MAX_CHARS;
  const isFirst = (tool: Tool): boolean =>
    groups
      ? groups.some((pattern) => matchesWildcard(pattern, getToolGroup(tool)))
      : isFew
        ? !isOfServer(tool)
        : DEFAULT_TOOLS.has(tool.name) || (tool.name === 'agent_run' && config.subAgents?.enabled === true);
  const first = reachable.filter(isFirst);
  const deferred = reachable.filter((tool) => !isFirst(tool)).map(toSpec);
  const search = deferred.length > 0 || canReachServers(config, only) ? SEARCH_SPECS : [];
  const [ownFirst, serversFirst] = [first.filter((tool) => !isOfServer(tool)), first.filter(isOfServer)];
  return { tools: [...ownFirst.map(toSpec), ...search, ...serversFirst.map(toSpec)], deferred };
}

/** Whether the settings allow tools of an MCP server that is not running yet, which will be found by search. */
function canReachServers({ tools, toolGroups = [] }: Agent['config'], only?: readonly string[]): boolean {
  if (toolGroups.some((pattern) => pattern === '*' || pattern === `${MCP_GROUP_PREFIX}*`)) return false;
  return [tools?.allow, only].every((patterns) => !patterns || patterns.some(canMatchServer));
}

/** Whether a pattern matches any name that begins with `mcp:`. */
function canMatchServer(pattern: string): boolean {
  const [start = ''] = pattern.split('*', 1);
  return start.startsWith(MCP_GROUP_PREFIX) || (start !== pattern && MCP_GROUP_PREFIX.startsWith(start));
}
