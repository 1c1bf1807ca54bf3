/** Valid names of a tool server (MCP): the name becomes a part of its tools' names, followed by "__". */
export const TOOL_SERVER_NAME = /^(?!.*__)[A-Za-z0-9_-]{1,40}$/;
export const TOOL_SERVER_NAME_LENGTH = 40;
