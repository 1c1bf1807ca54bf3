/** Whether a tool runs without asking, after an approval, or never. */
export const TOOL_POLICIES = ['auto', 'ask', 'deny'] as const;
export type ToolPolicy = (typeof TOOL_POLICIES)[number];
