import {
  type CallToolResult,
  type ContentBlock,
  createMcpHandler,
  type McpHttpHandler,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  Server,
  type Tool as McpTool,
} from '@modelcontextprotocol/server';
import type { Principal } from '#shared/link/hello.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { allows, type Scope } from '#shared/rpc/scopes.ts';
import type { FileEntry, FileRecord } from '#shared/rpc/methods/workspace.ts';
import { type Agent, workspaceOf } from '../../agents.ts';
import type { WikiVault } from '../../wiki/vault.ts';
import type { SentFile, Tool, ToolContext } from '../../tools/registry.ts';
import { HttpError } from '../errors.ts';
import { FILES, pathOf, uriOf, WIKI } from './addresses.ts';
import { wikiResource, wikiResources } from './wiki-resources.ts';

export interface McpServerDeps {
  /** Throws `NOT_FOUND`. */
  agent(id: string): Agent;
  tools: {
    /** Returns the tools that an agent may use for a principal. */
    offered(agent: Agent, principal: string): Promise<readonly Tool[]>;
    run(call: { tool: string; args: Record<string, unknown> }, context: ToolContext): Promise<unknown>;
  };
  files: {
    list(workspace: string, prefix: string): Promise<FileEntry[]>;
    get(workspace: string, path: string): Promise<FileRecord | undefined>;
  };
  /** The wiki of an agent. */
  wiki(agentId: string): Promise<Pick<WikiVault, 'getPage' | 'listPages'>>;
  version: string;
  fault(error: unknown): RpcError;
}

/** Bytes of a message, as of any other request (decisions, "HTTP"). */
const MAX_BYTES = 20 * 1024 * 1024;

/**
 * The gateway as a server of the Model Context Protocol over Streamable HTTP, stateless: the tools of an agent, before which the same approvals stand
 * as in a chat, the files of its workspace, and the pages of its wiki. Revisions 2025-11-25 and earlier, and 2026-07-28.
 */
export function mcpServer(deps: McpServerDeps): (request: Request, agentId: string, principal: Principal) => Promise<Response> {
  const handler: McpHttpHandler = createMcpHandler((context) => serverFor(context, deps), { maxRequestBodySize: MAX_BYTES });
  return (request, agentId, { id, scopes }) => {
    // A name that is not there is told at once, as what else is not there.
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

function serverFor({ authInfo }: McpRequestContext, { agent, tools, files, wiki, version, fault }: McpServerDeps): Server {
  const principal = authInfo?.clientId ?? '';
  const may = (scope: Scope): boolean => allows(authInfo?.scopes ?? [], scope);
  const own = agent(String(authInfo?.extra?.['agentId']));
  const workspace = workspaceOf(own);
  const server = new Server(
    { name: 'perch', title: 'Perch', version },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: `Tools, files and wiki pages of the agent "${own.id}". Calls that make changes wait until the owner approves them in Perch.`,
    },
  );
  server.setRequestHandler('tools/list', async () => ({ tools: (await tools.offered(own, principal)).map(described) }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const offered = await tools.offered(own, principal);
    if (!offered.some(({ name, modelName = name }) => modelName === params.name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool "${params.name}".`);
    const sent: ContentBlock[] = [];
    const context: ToolContext = {
      ...{ agentId: own.id, sessionKey: null, runId: null, principal, signal: mcpReq.signal },
      send: (file) => void sent.push(...blocksOf(file)),
    };
    try {
      const result = await tools.run({ tool: params.name, args: params.arguments ?? {} }, context);
      return { content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result ?? null) }, ...sent] };
    } catch (error) {
      mcpReq.signal.throwIfAborted();
      return failed(error instanceof RpcError ? error : fault(error));
    }
  });
  server.setRequestHandler('resources/list', async () => ({
    resources: [
      ...(may('files') ? await files.list(workspace, '') : []).map(({ path, mimeType, size, modifiedAt }) => ({
        ...{ uri: uriOf(FILES, path), name: path, mimeType, size },
        annotations: { lastModified: new Date(modifiedAt).toISOString() },
      })),
      ...(await wikiResources(own.id, await wiki(own.id))),
    ],
  }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }): Promise<ReadResourceResult> => {
    const page = pathOf(`${WIKI}${own.id}/`, uri);
    if (page !== undefined) {
      const contents = await wikiResource(uri, page, await wiki(own.id));
      if (contents) return { contents: [contents] };
    }
    const path = pathOf(FILES, uri);
    const file = path === undefined || !may('files') ? undefined : await files.get(workspace, path);
    if (!file) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No resource with URI "${uri}".`);
    const { mimeType, content, encoding } = file;
    return { contents: [{ uri, mimeType, ...(encoding === 'utf8' ? { text: content } : { blob: content }) }] };
  });
  return server;
}

const described = ({ name, modelName = name, title, description, schema, effect }: Tool): McpTool => ({
  name: modelName,
  title,
  description,
  inputSchema: { ...schema, type: 'object' },
  annotations: { readOnlyHint: effect === undefined },
});

const failed = ({ message }: RpcError): CallToolResult => ({ content: [{ type: 'text', text: message }], isError: true });

function blocksOf({ filename, mimeType, data, note }: SentFile): ContentBlock[] {
  const file: ContentBlock = mimeType.startsWith('image/')
    ? { type: 'image', mimeType, data }
    : { type: 'resource', resource: { uri: uriOf(FILES, filename), mimeType, blob: data } };
  return note === undefined ? [file] : [{ type: 'text', text: note }, file];
}
