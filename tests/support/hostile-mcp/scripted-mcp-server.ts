// An MCP server that behaves correctly except for its script (mcp-scripts.ts).
import { createInterface } from 'node:readline';
import { type McpMessage, SCRIPTS, type ScriptOutput } from './mcp-scripts.ts';

const [name = '', marker = ''] = process.argv.slice(2);
const script = SCRIPTS[name];
if (!script) throw new Error(`there is no script ${name}`);

const output: ScriptOutput = {
  marker,
  raw: (bytes) => void process.stdout.write(bytes),
  send: (message) => output.raw(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
  result: ({ id }, value) => output.send({ id, result: value }),
};

const DEFAULT_HANDLERS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'hostile', version: '1' },
  },
  'tools/list': { tools: [{ name: 'say', description: 'Says something', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'as usual' }] },
  ping: {},
};

process.stdout.on('error', () => {});
script.start?.(output);
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as McpMessage;
  const own = script.on?.[message.method ?? ''];
  if (own) return own(message, output);
  if (message.id === undefined || message.method === undefined) return;
  const value = DEFAULT_HANDLERS[message.method];
  if (value) output.result(message, value);
  else output.send({ id: message.id, error: { code: -32601, message: 'Method not found' } });
});
