// A minimal bridge: runs the MCP server that it is given, and waits to be killed.
import { ProcessKeeper } from '../../../processes/process-keeper.ts';
import { createMcpHandlers } from '../mcp-handlers.ts';

const [home = '', command = '', ...args] = process.argv.slice(2);
const handlers = createMcpHandlers({ home, keeper: new ProcessKeeper(() => {}) });
const call = { signal: new AbortController().signal, send: () => {} };
const { hash } = await handlers['mcp.check']({ command, args, env: {} }, call);
await handlers['mcp.approve']({ hash }, call);
await handlers['mcp.run']({ command, args, env: {}, run: 'one' }, call);
