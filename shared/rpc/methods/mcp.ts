import { call } from '../contract.ts';
import { z } from '../zod.ts';

export const changedTool = z.object({ tool: z.string(), /** What to approve. */ hash: z.string(), description: z.string() });
/** A tool that says something else of itself than when it was approved. */
export type ChangedTool = z.infer<typeof changedTool>;

export const mcpServerState = z.object({
  name: z.string(),
  transport: z.enum(['stdio', 'http', 'sse']),
  /** `waiting`: for a person's approval of its command; `unauthorized`: for a person's permission at its own service (`mcp.authorize`); `failed`: it is tried again after a while. */
  state: z.enum(['off', 'waiting', 'unauthorized', 'starting', 'ready', 'failed']),
  /** Since when; 0 where it is switched off. */
  since: z.number(),
  /** Why it is not ready. */
  error: z.string().optional(),
  command: z.string().optional(),
  url: z.string().optional(),
  /** OAuth scopes that it wants, where it has said so and was not given them. */
  wants: z.string().optional(),
  /** Of the command that waits: what to approve. */
  hash: z.string().optional(),
  pid: z.number().int().optional(),
  /** What it calls itself. */
  server: z.object({ name: z.string(), version: z.string() }).optional(),
  /** How many of its tools are in the pool. */
  tools: z.number().int(),
  /** Its tools that are off until they are approved again. */
  changed: z.array(changedTool),
  /** What is wrong with its list of tools. */
  problems: z.array(z.string()),
});
/** A configured tool server, and how it stands with it. */
export type McpServerState = z.infer<typeof mcpServerState>;

export const mcpAsk = z.object({
  id: z.string(),
  server: z.string(),
  message: z.string(),
  /** JSON Schema of the form: an object of strings, numbers, switches and choices. */
  schema: z.record(z.string(), z.unknown()),
  createdAt: z.number(),
  expiresAt: z.number(),
});
/** A form that a tool server wants a person to fill in. */
export type McpAsk = z.infer<typeof mcpAsk>;

const answer = {
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z
    .record(z.string(), z.union([z.string().max(100_000), z.number(), z.boolean(), z.array(z.string().max(10_000)).max(1000)]))
    .optional(),
};
export type McpAnswer = z.infer<z.ZodObject<typeof answer>>;

const mcpResource = z.object({
  server: z.string(),
  /** With `template`: a pattern of addresses (RFC 6570). */
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

/** Tool servers: the client side of the Model Context Protocol (interface document 2, section 2.1). Their tools are in `tools.catalog`. */
export const mcp = {
  'mcp.list': call({
    params: z.strictObject({}),
    result: z.object({
      servers: z.array(mcpServerState),
      /** Forms that wait for a person. */
      asks: z.array(mcpAsk),
      count: z.number().int(),
    }),
    docs: 'Lists the tool servers of `tools.mcpServers` and how it stands with each.',
    policy: { scope: 'read' },
  }),
  'mcp.restart': call({
    params: z.strictObject({ name }),
    result: z.object({ ok: z.literal(true) }),
    emits: ['mcp.changed'],
    docs: 'Ends a tool server with its connection and connects anew; `mcp.list` tells how that went.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'mcp.approve': call({
    params: z.strictObject({ name, /** As `mcp.list` shows it. */ hash: z.string().min(1).max(128) }),
    result: z.object({ ok: z.literal(true) }),
    emits: ['mcp.changed'],
    docs: 'Approves exactly the command of a server that waits, or a tool of it that says something else of itself than before. Only a person can: API keys and channels never approve.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'mcp.authorize': call({
    params: z.strictObject({ name }),
    result: z.object({ /** To be opened in a browser of the bridge’s machine, within ten minutes. */ url: z.url() }),
    emits: ['mcp.changed'],
    docs: 'Begins to get a person’s permission at the service of a tool server (OAuth 2.1): the address of the page where it is given. Once it is, the server is connected. Only a person can.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'mcp.logs': call({
    params: z.strictObject({ name }),
    result: z.object({ text: z.string() }),
    docs: 'The end of what a tool server has written to its standard error; of the one before, where it was lost.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'mcp.resources': call({
    params: z.strictObject({ /** All that are connected where it is left out. */ name: name.optional() }),
    result: z.object({ resources: z.array(mcpResource), count: z.number().int() }),
    docs: 'Lists what tool servers have to read.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'mcp.read': call({
    params: z.strictObject({ name, uri: z.string().min(1).max(4096) }),
    result: z.object({
      contents: z.array(
        z.object({
          uri: z.string(),
          mimeType: z.string().optional(),
          text: z.string().optional(),
          /** Base64. */ blob: z.string().optional(),
        }),
      ),
    }),
    docs: 'Reads something of a tool server.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'mcp.prompts': call({
    params: z.strictObject({ name: name.optional() }),
    result: z.object({ prompts: z.array(mcpPrompt), count: z.number().int() }),
    docs: 'Lists the prompts that tool servers have ready.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'mcp.prompt': call({
    params: z.strictObject({
      name,
      prompt: z.string().min(1).max(1000),
      arguments: z.record(z.string(), z.string().max(100_000)).default({}),
    }),
    result: z.object({
      description: z.string().optional(),
      messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.unknown() })),
    }),
    docs: 'A prompt with its arguments filled in, as messages.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'mcp.answer': call({
    params: z.strictObject({ id: z.string().min(1).max(128), ...answer }),
    result: z.object({ ok: z.literal(true) }),
    emits: ['mcp.changed'],
    docs: 'Answers a form that a tool server wants filled in. Only a person can.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
};
