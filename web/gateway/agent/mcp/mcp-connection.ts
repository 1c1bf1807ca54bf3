import {
  Client,
  type ClientCapabilities,
  type GetPromptResult,
  InsufficientScopeError,
  type jsonSchemaValidator,
  type JsonSchemaValidatorResult,
  type Progress,
  ProtocolError,
  type ReadResourceResult,
  SdkError,
  SdkErrorCode,
  specTypeSchemas,
  type StandardSchemaV1,
  type Tool as McpTool,
  type Transport,
  SdkHttpError,
  SseError,
} from '@modelcontextprotocol/client';
import { toPrintable } from '#shared/printable.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { McpPrompt, McpResource } from '#shared/rpc/methods/mcp-contracts.ts';
import type { McpEndpoint } from './mcp-endpoints.ts';
import {
  describeEnd,
  type ListEnd,
  promptsPageSchema,
  readCursor,
  readItems,
  readTools,
  resourcesPageSchema,
  templatesPageSchema,
  toolsPageSchema,
} from './mcp-lists.ts';
import { type ToolResult, toolResultSchema } from './mcp-results.ts';
import { toClause } from '#shared/clause.ts';
import { truncateMiddle } from '#shared/truncate-text.ts';
import { parseFault } from '../../providers/upstream-errors.ts';

/** Maximum number of characters of a server's error message. */
const MAX_CHARS = 2000;

/** The SDK reports the status of a failed message over the older HTTP transport only in its text. */
const POST_ERROR = /^Error POSTing to endpoint \(HTTP ([45]\d\d)\): ([^]*)$/;

/** Maximum number of tools of one server, and of pages of a list. */
const MAX_TOOLS = 500;
const MAX_PAGES = 64;
/** Factor by which the time limit grows for a tool that reports progress. */
const PROGRESS_FACTOR = 10;
/** Errors that do not mean that the connection is lost. */
const RESPONSE_ERRORS: ReadonlySet<string> = new Set([
  SdkErrorCode.RequestTimeout,
  SdkErrorCode.InvalidResult,
  SdkErrorCode.CapabilityNotSupported,
]);

/**
 * Disables validation of results against output schemas: patterns of a malicious server could keep the worker busy forever, and nothing
 * here relies on the form of a result.
 */
const permissiveValidator: jsonSchemaValidator = {
  getValidator<T>() {
    return (input: unknown): JsonSchemaValidatorResult<T> => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};

interface ConnectionOptions {
  endpoint: McpEndpoint;
  transport: Transport;
  /** Version that the gateway reports to the server. */
  version: string;
  signal: AbortSignal;
  /** Why the transport has ended; undefined if it has not, or does not say. */
  getEndReason(): string | undefined;
  /** Adds details to the error if the connection could not be opened. */
  explain(failure: Error): Promise<Error>;
  /** Sets up request handlers of the client before it connects. */
  prepare(client: Client): void;
  capabilities: ClientCapabilities;
}

interface CallOptions {
  signal: AbortSignal;
  onprogress?(progress: Progress): void;
}

/** An initialized connection to an MCP server. */
export class McpConnection {
  readonly client: Client;
  /** Resolves when the connection has ended, whichever side closed it. */
  readonly closed: Promise<void>;
  readonly #options: ConnectionOptions;

  private constructor(client: Client, options: ConnectionOptions) {
    this.client = client;
    this.#options = options;
    const closed = Promise.withResolvers<void>();
    client.onclose = () => closed.resolve();
    this.closed = closed.promise;
  }

  /** Rejects with a message for people if the connection fails. */
  static async open(options: ConnectionOptions): Promise<McpConnection> {
    const { version, transport, signal, capabilities, endpoint } = options;
    const client = new Client({ name: 'perch', version }, { capabilities, jsonSchemaValidator: permissiveValidator });
    const connection = new McpConnection(client, options);
    options.prepare(client);
    try {
      await client.connect(transport, { signal, timeout: endpoint.timeoutMs });
      return connection;
    } catch (error) {
      const failure = await options.explain(connection.toFailure(error));
      await connection.close();
      throw failure;
    }
  }

  /** Name and version that the server reports. */
  get serverInfo(): { name: string; version: string } | undefined {
    const serverInfo = this.client.getServerVersion();
    return serverInfo && { name: toPrintable(serverInfo.name.slice(0, 200)), version: toPrintable(serverInfo.version.slice(0, 200)) };
  }

  /** All readable tools up to the limit. `isTruncated`: whether there are more. `problems`: a sentence for each fault of the list. */
  async tools(): Promise<{ tools: McpTool[]; isTruncated: boolean; problems: string[] }> {
    if (!this.client.getServerCapabilities()?.tools) return { tools: [], isTruncated: false, problems: [] };
    const tools: McpTool[] = [];
    const problems: string[] = [];
    let listed = 0;
    const { more, end } = await this.#forEachPage('tools/list', toolsPageSchema, async ({ tools: items }) => {
      const read = await readTools(items, listed);
      listed += Array.isArray(items) ? items.length : 0;
      tools.push(...read.tools);
      problems.push(...read.problems.slice(0, MAX_TOOLS - problems.length));
      return listed <= MAX_TOOLS;
    });
    return {
      tools: tools.slice(0, MAX_TOOLS),
      isTruncated: more || tools.length > MAX_TOOLS,
      problems: [...problems, ...describeEnd(end)],
    };
  }

  /** Calls a tool. An abort is sent to the server (`notifications/cancelled`), and rejects with the signal's reason. */
  async call(tool: string, args: Record<string, unknown>, { signal, onprogress }: CallOptions): Promise<ToolResult> {
    const { timeoutMs } = this.#options.endpoint;
    try {
      return await this.client.request({ method: 'tools/call', params: { name: tool, arguments: args } }, toolResultSchema, {
        ...this.#requestOptions(signal),
        ...(onprogress ? { onprogress, resetTimeoutOnProgress: true, maxTotalTimeout: timeoutMs * PROGRESS_FACTOR } : {}),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw this.toFailure(error);
    }
  }

  /** The server's resources and resource templates. */
  async resources(): Promise<Omit<McpResource, 'server'>[]> {
    if (!this.client.getServerCapabilities()?.resources) return [];
    const found: Omit<McpResource, 'server'>[] = [];
    await this.#forEachPage('resources/list', resourcesPageSchema, async ({ resources }) => {
      for (const { uri, name, description, mimeType } of await readItems(resources, specTypeSchemas.Resource))
        found.push({ uri, name, ...omitUndefined({ description, mimeType }) });
      return found.length <= MAX_TOOLS;
    });
    await this.#forEachPage('resources/templates/list', templatesPageSchema, async ({ resourceTemplates }) => {
      for (const { uriTemplate, name, description, mimeType } of await readItems(resourceTemplates, specTypeSchemas.ResourceTemplate))
        found.push({ uri: uriTemplate, name, template: true, ...omitUndefined({ description, mimeType }) });
      return found.length <= 2 * MAX_TOOLS;
    });
    return found;
  }

  async read(uri: string): Promise<ReadResourceResult> {
    return this.#wrapErrors(this.client.request({ method: 'resources/read', params: { uri } }, this.#requestOptions()));
  }

  async prompts(): Promise<Omit<McpPrompt, 'server'>[]> {
    if (!this.client.getServerCapabilities()?.prompts) return [];
    const found: Omit<McpPrompt, 'server'>[] = [];
    await this.#forEachPage('prompts/list', promptsPageSchema, async ({ prompts }) => {
      for (const { name, description, arguments: args = [] } of await readItems(prompts, specTypeSchemas.Prompt)) {
        const parsedArguments = args.map(({ name: own, description: argumentDescription, required = false }) => ({
          name: own,
          required,
          ...omitUndefined({ description: argumentDescription }),
        }));
        found.push({ name, arguments: parsedArguments, ...omitUndefined({ description }) });
      }
      return found.length <= MAX_TOOLS;
    });
    return found;
  }

  async prompt(name: string, args: Record<string, string>): Promise<GetPromptResult> {
    return this.#wrapErrors(this.client.request({ method: 'prompts/get', params: { name, arguments: args } }, this.#requestOptions()));
  }

  /** Whether an error means that the server, or its session, is gone. */
  isLost(error: unknown): boolean {
    const cause = error instanceof RpcError ? error.cause : undefined;
    if (!(cause instanceof Error) || ProtocolError.isInstance(cause) || InsufficientScopeError.isInstance(cause)) return false;
    return !(SdkError.isInstance(cause) && RESPONSE_ERRORS.has(cause.code));
  }

  toFailure(error: unknown): Error {
    const { endpoint, getEndReason } = this.#options;
    return toMcpError(error, endpoint.name, { timeoutMs: endpoint.timeoutMs, over: getEndReason() });
  }

  async close(): Promise<void> {
    await this.client.close().catch(() => {});
    // If it never started, the client has no transport to close.
    await this.#options.transport.close().catch(() => {});
  }

  async #wrapErrors<T>(pending: Promise<T>): Promise<T> {
    try {
      return await pending;
    } catch (error) {
      throw this.toFailure(error);
    }
  }

  /** Reads pages of a list while `read` returns true. `more`: whether pages are left. `end`: how the list ended. */
  async #forEachPage<S extends StandardSchemaV1<unknown, { nextCursor?: unknown }>>(
    method: string,
    schema: S,
    read: (page: StandardSchemaV1.InferOutput<S>) => Promise<boolean>,
  ): Promise<{ more: boolean; end: ListEnd }> {
    const seenCursors = new Set<string>();
    let params: Record<string, string> = {};
    try {
      for (let count = 0; count < MAX_PAGES; count++) {
        const page = await this.client.request({ method, params }, schema, this.#requestOptions());
        const hasMore = await read(page);
        const next = readCursor(page.nextCursor, seenCursors);
        if ('end' in next) return { more: false, end: next.end };
        if (!hasMore) return { more: true, end: undefined };
        seenCursors.add(next.cursor);
        params = { cursor: next.cursor };
      }
      return { more: true, end: undefined };
    } catch (error) {
      throw this.toFailure(error);
    }
  }

  #requestOptions(signal = this.#options.signal): { signal: AbortSignal; timeout: number } {
    return { signal, timeout: this.#options.endpoint.timeoutMs };
  }
}

const omitUndefined = <T extends Record<string, string | undefined>>(fields: T): { [K in keyof T]?: string } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: string };

/** An error as a sentence for people and models. `endReason`: why the connection has ended, if it has. */
function toMcpError(
  error: unknown,
  server: string,
  { timeoutMs, over: endReason }: { timeoutMs: number; over: string | undefined },
): RpcError {
  const fail = (problem: string): RpcError =>
    new RpcError('INTERNAL_ERROR', truncateMiddle(`MCP server ${server} ${problem}`, MAX_CHARS), {}, { cause: error });
  if (error instanceof RpcError) return error;
  if (SdkError.isInstance(error)) {
    if (error.code === SdkErrorCode.RequestTimeout) return fail(`did not respond within ${timeoutMs / 1000} s.`);
    if (endReason !== undefined) return fail(`disconnected: ${toClause(endReason)}.`);
  }
  if (InsufficientScopeError.isInstance(error)) return fail('needs more permissions for this. Authorize it again.');
  const refusalText = findRefusal(error, server);
  if (refusalText !== undefined) return fail(refusalText);
  if (ProtocolError.isInstance(error)) return fail(`rejected the request: ${error.message}`);
  const message = error instanceof Error ? error.message.replace(/^SSE error: (TypeError: )?/, '') : String(error);
  return fail(endReason === undefined ? `failed: ${message}` : `disconnected: ${toClause(endReason)}.`);
}

/** A sentence about an error status of the server; undefined if the error is something else. For a redirect, the SDK reports its target. */
function findRefusal(error: unknown, server: string): string | undefined {
  if (SdkHttpError.isInstance(error) && error.status >= 400)
    return describeRefusal(error.status, typeof error.data['text'] === 'string' ? error.data['text'] : '', server);
  if (SseError.isInstance(error) && error.code !== undefined && error.code >= 400) return describeRefusal(error.code, '', server);
  const [, status, text = ''] = POST_ERROR.exec(error instanceof Error ? error.message : '') ?? [];
  return status === undefined ? undefined : describeRefusal(Number(status), text, server);
}

function describeRefusal(status: number, text: string, server: string): string {
  const reason = text.trim() === '' ? `HTTP ${status}` : `HTTP ${status}: ${parseFault(text).message}`;
  if (status === 401 || status === 403) return `denied access (${reason}). Check \`tools.mcpServers.${server}.headers\`.`;
  if (status === 404 || status === 405) return `was not found at its URL (${reason}). Check the path.`;
  if (status === 429) return `is limiting requests (${reason}). Try again later.`;
  return status >= 500 ? `failed (${reason}). Check its logs.` : `rejected the request (${reason}).`;
}
