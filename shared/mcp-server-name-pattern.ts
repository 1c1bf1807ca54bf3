/** Valid names of a tool server (MCP): the name becomes a part of its tools' names, followed by "__". */
export const MCP_SERVER_NAME_PATTERN = /^(?!.*__)[A-Za-z0-9_-]{1,40}$/;
export const MAX_MCP_SERVER_NAME_CHARS = 40;
