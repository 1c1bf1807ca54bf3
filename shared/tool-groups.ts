/** Groups of Perch's own tools. An agent's `toolGroups` names those that its model gets in every message. */
export const TOOL_GROUPS = [
  'general',
  'files',
  'web',
  'memory',
  'automation',
  'plans',
  'agents',
  'wiki',
  'drawings',
  'browser',
  'computer',
] as const;
export type ToolGroup = (typeof TOOL_GROUPS)[number];

/** Begins the group of an MCP server: `mcp:<server>`. */
export const MCP_GROUP_PREFIX = 'mcp:';
