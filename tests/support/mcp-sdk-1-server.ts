// A server on the earlier line of the protocol's SDK: `stdio`, `streamableHttp` or `sse`. The HTTP ones write their address to standard output.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

function createMcpServer(): McpServer {
  const server = new McpServer({ name: 'earlier', version: '1' });
  server.registerTool(
    'add',
    { title: 'Add', description: 'Adds two numbers', inputSchema: { a: z.number(), b: z.number() } },
    ({ a, b }) => ({
      content: [{ type: 'text', text: `sum ${a + b}` }],
    }),
  );
  server.registerTool('grow', { description: 'Adds a tool' }, () => {
    server.registerTool('grown', { description: 'Was added' }, () => ({ content: [{ type: 'text', text: 'grown up' }] }));
    return { content: [{ type: 'text', text: 'done' }] };
  });
  server.registerTool('ask', { description: 'Asks the user' }, async () => {
    const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } };
    const { action, content } = await server.server.elicitInput({ message: 'Your name?', requestedSchema });
    return { content: [{ type: 'text', text: `${action} ${String(content?.['name'])}` }] };
  });
  server.registerPrompt('greet', { description: 'Greets', argsSchema: { who: z.string() } }, ({ who }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${who}` } }],
  }));
  server.registerResource('one', 'earlier://one', { mimeType: 'text/plain' }, ({ href }) => ({ contents: [{ uri: href, text: 'One' }] }));
  server.registerResource('numbered', new ResourceTemplate('earlier://number/{n}', { list: undefined }), {}, ({ href }, { n }) => ({
    contents: [{ uri: href, text: `Number ${String(n)}` }],
  }));
  return server;
}

const streamableTransports = new Map<string, StreamableHTTPServerTransport>();
async function serveStreamable(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const existing = streamableTransports.get(String(request.headers['mcp-session-id']));
  if (existing) return existing.handleRequest(request, response);
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void streamableTransports.set(id, transport),
  });
  await createMcpServer().connect(transport as Parameters<McpServer['connect']>[0]);
  await transport.handleRequest(request, response);
}

const sseTransports = new Map<string, SSEServerTransport>();
async function serveEvents(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const existing = sseTransports.get(new URL(request.url ?? '/', 'http://localhost').searchParams.get('sessionId') ?? '');
  if (existing) return existing.handlePostMessage(request, response);
  const transport = new SSEServerTransport('/messages', response);
  sseTransports.set(transport.sessionId, transport);
  await createMcpServer().connect(transport);
}

const [mode] = process.argv.slice(2);
if (mode === 'stdio') await createMcpServer().connect(new StdioServerTransport());
else {
  const serve = mode === 'sse' ? serveEvents : serveStreamable;
  const server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  });
}
