/** Whether an approval's `tool` names an MCP server and no tool of it: the approval is about a tool that has changed, and no policy can follow from it. */
export const isMcpServerName = (tool: string): boolean => /^mcp:[^:]*$/.test(tool);
