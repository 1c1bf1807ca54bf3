import { defineMethod } from '../contract.ts';
import { z } from '../zod.ts';

const changedTool = z.object({ tool: z.string(), /** The hash to approve. */ hash: z.string(), description: z.string() });
/** A tool whose description or schema has changed since it was approved. */
export type ChangedTool = z.infer<typeof changedTool>;

const mcpServerState = z.object({
  name: z.string(),
  transport: z.enum(['stdio', 'http', 'sse']),
  /** `waiting`: the command needs an approval. `unauthorized`: needs authorization at its own service (see `mcp.authorize`). `failed`: retried after a pause. */
  state: z.enum(['off', 'waiting', 'unauthorized', 'starting', 'ready', 'failed']),
  /** When the server entered this state; 0 if it is off. */
  since: z.number(),
  /** Why the server is not ready. */
  error: z.string().optional(),
  command: z.string().optional(),
  url: z.string().optional(),
  /** OAuth scopes that the server requires but was not granted, if it reports them. */
  wants: z.string().optional(),
  /** The hash to approve, for a waiting command. */
  hash: z.string().optional(),
  /** The command was approved in an older build, which did not see its program: the approval covers the one that was there when this build started it first. */
  isApprovalBound: z.boolean().optional(),
  pid: z.number().int().optional(),
  /** The name and version that the server reports. */
  server: z.object({ name: z.string(), version: z.string() }).optional(),
  /** Number of available tools of the server. */
  tools: z.number().int(),
  /** Tools that are off until they are approved again. */
  changed: z.array(changedTool),
  /** Problems with the server's list of tools. */
  problems: z.array(z.string()),
});
/** A configured MCP server and its state. */
export type McpServerState = z.infer<typeof mcpServerState>;

export const mcpElicitation = z.object({
  id: z.string(),
  server: z.string(),
  message: z.string(),
  /** JSON Schema of the form: an object of strings, numbers, booleans and enums. */
  schema: z.record(z.string(), z.unknown()),
  createdAt: z.number(),
  expiresAt: z.number(),
});
/** A form that an MCP server asks a person to fill in. */
export type McpElicitation = z.infer<typeof mcpElicitation>;

const elicitationResult = {
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z
    .record(z.string(), z.union([z.string().max(100_000), z.number(), z.boolean(), z.array(z.string().max(10_000)).max(1000)]))
    .optional(),
};
export type McpElicitationResult = z.infer<z.ZodObject<typeof elicitationResult>>;

const mcpResource = z.object({
  server: z.string(),
  /** With `template`: a URI template (RFC 6570). */
  uri: z.string(),
  name: z.string(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
  template: z.literal(true).optional(),
});
export type McpResource = z.infer<typeof mcpResource>;

const mcpPrompt = z.object({
  server: z.string(),
  name: z.string(),
  description: z.string().optional(),
  arguments: z.array(z.object({ name: z.string(), required: z.boolean(), description: z.string().optional() })),
});
export type McpPrompt = z.infer<typeof mcpPrompt>;

const name = z.string().min(1).max(128);

/** MCP servers, with Perch as the client. Their tools are in `tools.catalog`. */
export const mcpContracts = {
  'mcp.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({
      servers: z.array(mcpServerState),
      /** Forms that wait for a person. */
      asks: z.array(mcpElicitation),
      count: z.number().int(),
    }),
    docs: 'Lists the MCP servers configured in `tools.mcpServers` with their state.',
    policy: { scope: 'read' },
  }),
  'mcp.restart': defineMethod({
    params: z.strictObject({ name }),
    result: z.object({ ok: z.literal(true) }),
    emits: ['mcp.changed'],
    docs: 'Restarts an MCP server and its connection. `mcp.list` reports the result.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'mcp.approve': defineMethod({
    params: z.strictObject({ name, /** The hash shown by `mcp.list`. */ hash: z.string().min(1).max(128) }),
    result: z.object({ ok: z.literal(true) }),
    emits: ['mcp.changed'],
    docs: 'Approves the exact command of a waiting server, or a tool whose description has changed. Not available to API keys and channels.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'mcp.authorize': defineMethod({
    params: z.strictObject({ name }),
    result: z.object({ /** Open it in a browser on the bridge’s machine within ten minutes. */ url: z.url() }),
    emits: ['mcp.changed'],
    docs: 'Starts the authorization at the service of an MCP server (OAuth 2.1) and returns the URL of the consent page. The server is connected once access is granted. Not available to API keys and channels.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'mcp.logs': defineMethod({
    params: z.strictObject({ name }),
    result: z.object({ text: z.string() }),
    docs: 'Returns the end of an MCP server’s standard error. If the server was lost, this is the output of the previous process.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'mcp.resources': defineMethod({
    params: z.strictObject({ /** Defaults to all connected servers. */ name: name.optional() }),
    result: z.object({ resources: z.array(mcpResource), count: z.number().int() }),
    docs: 'Lists the resources of MCP servers.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'mcp.read': defineMethod({
    params: z.strictObject({ name, uri: z.string().min(1).max(4096) }),
    result: z.object({
      contents: z.array(
        z.object({
          uri: z.string(),
          mimeType: z.string().optional(),
          text: z.string().optional(),
          /** Base64-encoded. */ blob: z.string().optional(),
        }),
      ),
    }),
    docs: 'Reads a resource of an MCP server.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'mcp.prompts': defineMethod({
    params: z.strictObject({ name: name.optional() }),
    result: z.object({ prompts: z.array(mcpPrompt), count: z.number().int() }),
    docs: 'Lists the prompts of MCP servers.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'mcp.prompt': defineMethod({
    params: z.strictObject({
      name,
      prompt: z.string().min(1).max(1000),
      arguments: z.record(z.string(), z.string().max(100_000)).default({}),
    }),
    result: z.object({
      description: z.string().optional(),
      messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.unknown() })),
    }),
    docs: 'Returns a prompt with its arguments filled in, as messages.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'mcp.answer': defineMethod({
    params: z.strictObject({ id: z.string().min(1).max(128), ...elicitationResult }),
    result: z.object({ ok: z.literal(true) }),
    emits: ['mcp.changed'],
    docs: 'Answers a form requested by an MCP server. Not available to API keys and channels.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
};
