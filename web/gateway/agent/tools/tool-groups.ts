import { MCP_GROUP_PREFIX } from '#shared/tool-groups.ts';
import type { Tool } from './tool-registry.ts';

const BY_PREFIX = new Map<string, string>([
  ['collection', 'files'],
  ['file', 'files'],
  ['read', 'files'],
  ['send', 'files'],
  ['web', 'web'],
  ['browser', 'browser'],
  ['exec', 'computer'],
  ['desktop', 'computer'],
  ['memory', 'memory'],
  ['session', 'memory'],
  ['wiki', 'wiki'],
  ['cron', 'automation'],
  ['message', 'automation'],
  ['plan', 'plans'],
  ['canvas', 'drawings'],
  ['agent', 'agents'],
]);

/** The group of a tool: the server of an MCP tool, else determined by the prefix of its name. */
export const getToolGroup = ({ name, source }: Pick<Tool, 'name' | 'source'>): string =>
  source.startsWith(MCP_GROUP_PREFIX) ? source : (BY_PREFIX.get(name.split('_', 1)[0] ?? '') ?? 'general');
