/**
 * `node:http` without importing it: an ES module import evaluates all exports of a built-in, including `WebSocket`, which loads Node's
 * `fetch` (tests/bench/NOTES.md).
 */
export const { createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http');
