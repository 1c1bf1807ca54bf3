/** Whether an approval's `tool` names an MCP server and no tool of it: it is about a tool that has changed, or a request of the server. No policy can follow from it. */
export const isMcpServerApproval = (tool: string): boolean => /^mcp:[^:]*$/.test(tool);
