/** What a tool server (MCP) may be called: a part of its tools' names, in which "__" stands behind it. */
export const TOOL_SERVER_NAME = /^(?!.*__)[A-Za-z0-9_-]{1,40}$/;
export const TOOL_SERVER_NAME_LENGTH = 40;
