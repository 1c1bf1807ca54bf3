import {
  type CallToolResult,
  type ContentBlock,
  createMcpHandler,
  type McpHttpHandler,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool as McpTool,
} from '@modelcontextprotocol/server';
import type { Principal } from '#shared/link/hello.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { allowsScope, type Scope } from '#shared/rpc/scopes.ts';
import type { Agent } from '../../../agent/agents.ts';
import type { SentFile, Tool, ToolContext } from '../../../agent/tools/tool-registry.ts';
import { HttpError } from '../http-error.ts';
import { FILES_BASE_URI, toResourceUri } from './resource-uris.ts';
import { McpPrompts, type McpPromptsDeps } from './mcp-prompts.ts';
import { McpResources, type McpResourcesDeps } from './mcp-resources.ts';

interface McpHandlerDeps extends McpResourcesDeps, Omit<McpPromptsDeps, 'files' | 'labels'> {
  /** Throws `NOT_FOUND`. */
  agent(id: string): Agent;
  tools: {
    /** Returns the tools that an agent may use for a principal. */
    listOffered(agent: Agent, principal: string): Promise<readonly Tool[]>;
    run(call: { tool: string; args: Record<string, unknown> }, context: ToolContext): Promise<unknown>;
  };
  version: string;
  fault(error: unknown): RpcError;
}

/** Maximum bytes of a message, as for all requests. */
const MAX_REQUEST_BYTES = 20 * 1024 * 1024;

/**
 * MCP server over Streamable HTTP, stateless: an agent's tools, with the same approvals as in a chat, its files, wiki pages and chats as
 * resources, and saved prompts and skills as prompts. Supports revision 2026-07-28, and 2025-11-25 and earlier.
 */
export function createMcpRequestHandler(
  deps: McpHandlerDeps,
): (request: Request, agentId: string, principal: Principal) => Promise<Response> {
  const handler: McpHttpHandler = createMcpHandler((context) => createServer(context, deps), { maxRequestBodySize: MAX_REQUEST_BYTES });
  return (request, agentId, { id, scopes }) => {
    // An unknown agent is reported immediately, like other unknown paths.
    try {
      deps.agent(agentId);
    } catch (error) {
      if (error instanceof RpcError && error.code === 'NOT_FOUND')
        throw new HttpError(404, 'not_found', `The agent "${agentId}" does not exist. Use /mcp for the main agent.`);
      throw error;
    }
    return handler.fetch(request, { authInfo: { token: '', clientId: id, scopes: [...scopes], extra: { agentId } } });
  };
}

function createServer({ authInfo }: McpRequestContext, deps: McpHandlerDeps): Server {
  const { agent, tools, version, fault } = deps;
  const principal = authInfo?.clientId ?? '';
  const hasScope = (scope: Scope): boolean => allowsScope(authInfo?.scopes ?? [], scope);
  const servedAgent = agent(String(authInfo?.extra?.['agentId']));
  const resources = new McpResources(servedAgent, hasScope, deps);
  const prompts = new McpPrompts({ ...deps, files: deps.vault.files });
  const server = new Server(
    { name: 'perch', title: 'Perch', version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
      instructions: `Tools, files, wiki pages, chats, prompts and skills of the agent "${servedAgent.id}". Calls that make changes wait until the owner approves them in Perch.`,
    },
  );
  server.setRequestHandler('tools/list', async () => ({ tools: (await tools.listOffered(servedAgent, principal)).map(toMcpTool) }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const offered = await tools.listOffered(servedAgent, principal);
    if (!offered.some(({ name, modelName = name }) => modelName === params.name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool "${params.name}".`);
    const sentBlocks: ContentBlock[] = [];
    const context: ToolContext = {
      ...{ agentId: servedAgent.id, sessionKey: null, runId: null, principal, signal: mcpReq.signal },
      send: (file) => void sentBlocks.push(...toContentBlocks(file)),
    };
    try {
      const result = await tools.run({ tool: params.name, args: params.arguments ?? {} }, context);
      return { content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result ?? null) }, ...sentBlocks] };
    } catch (error) {
      mcpReq.signal.throwIfAborted();
      return toErrorResult(error instanceof RpcError ? error : fault(error));
    }
  });
  server.setRequestHandler('resources/list', async () => ({ resources: await resources.list() }));
  server.setRequestHandler('resources/templates/list', async () => ({ resourceTemplates: resources.templates }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const found = await resources.read(uri);
    if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No resource with URI "${uri}".`);
    return found;
  });
  server.setRequestHandler('prompts/list', async () => ({ prompts: await prompts.list(servedAgent, hasScope('files')) }));
  server.setRequestHandler('prompts/get', async ({ params: { name, arguments: values = {} } }, { mcpReq: { signal } }) =>
    prompts.get({ name, values, signal }, servedAgent, hasScope('files')),
  );
  server.setRequestHandler('completion/complete', async ({ params: { ref, argument } }) => ({
    completion:
      ref.type === 'ref/resource'
        ? await resources.complete(ref.uri, argument.name, argument.value)
        : { values: [], total: 0, hasMore: false },
  }));
  return server;
}

const toMcpTool = ({ name, modelName = name, title, description, schema, effect }: Tool): McpTool => ({
  name: modelName,
  title,
  description,
  inputSchema: { ...schema, type: 'object' },
  annotations: { readOnlyHint: effect === undefined },
});

const toErrorResult = ({ message }: RpcError): CallToolResult => ({ content: [{ type: 'text', text: message }], isError: true });

function toContentBlocks({ filename, mimeType, data, note }: SentFile): ContentBlock[] {
  const file: ContentBlock = mimeType.startsWith('image/')
    ? { type: 'image', mimeType, data }
    : { type: 'resource', resource: { uri: toResourceUri(FILES_BASE_URI, filename), mimeType, blob: data } };
  return note === undefined ? [file] : [{ type: 'text', text: note }, file];
}
