// A minimal bridge: runs the MCP server that it is given, and waits to be killed.
import { Keeper } from '../../../processes/keep.ts';
import { mcpHandlers } from '../mcp.ts';

const [home = '', command = '', ...args] = process.argv.slice(2);
const handlers = mcpHandlers({ home, keeper: new Keeper(() => {}) });
const call = { signal: new AbortController().signal, send: () => {} };
const { hash } = await handlers['mcp.check']({ command, args, env: {} }, call);
await handlers['mcp.approve']({ hash }, call);
await handlers['mcp.run']({ command, args, env: {}, run: 'one' }, call);
