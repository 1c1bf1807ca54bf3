/**
 * Node's HTTP, without what an import of `node:http` brings along: an ES module has all names of a built-in read at once, `WebSocket` among them, and that one
 * loads Node's own `fetch` (tests/bench/NOTES.md).
 */
export const { createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http');
