import { defineMethod } from '../contract.ts';
import { agentId } from '../record-schemas.ts';
import { TOOL_POLICIES } from '../tool-policies.ts';
import { z } from '../zod.ts';

/** Title and summary of a tool, for people. */
const toolLabel = z.object({
  /** Verb and object, such as `Read file`. */
  title: z.string(),
  /** One sentence. */
  summary: z.string(),
});
export type ToolLabel = z.infer<typeof toolLabel>;

const toolEntry = z.object({
  name: z.string(),
  // Optional: gateways of earlier builds do not send labels.
  ...toolLabel.partial().shape,
  /** The prompt that models read. */
  description: z.string(),
  schema: z.record(z.string(), z.unknown()).optional(),
  /** `core`, `memory`, `office`, `bridge`, …, `mcp:<server>`. */
  source: z.string(),
  /** Whether the tool makes changes: does more than read or remember. */
  effect: z.boolean(),
  /** How such a call runs, according to `tools.policies` and the defaults. */
  policy: z.enum(TOOL_POLICIES),
  /** If `policy` is `ask`, but only some calls wait for an approval: which, as a sentence. */
  asksWhen: z.string().optional(),
});
/** A tool for agents. */
export type ToolEntry = z.infer<typeof toolEntry>;

/** A file returned by a tool. `data` is base64-encoded. */
const toolFile = z.object({ filename: z.string(), mimeType: z.string(), data: z.string(), note: z.string().optional() });
const toolPicture = z.object({ mimeType: z.string(), data: z.string() });

/** An ID for the call, unique among the running calls of a principal. */
const callId = z.string().min(1).max(100);

/** The tools that agents can use. */
export const toolContracts = {
  'tools.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({
      tools: z.array(z.string()),
      /** By tool name, and by the name that models use if it differs. */
      labels: z.record(z.string(), toolLabel).optional(),
    }),
    docs: 'Lists the names of the tools, each with a title and a summary for people.',
    policy: { scope: 'read' },
  }),
  'tools.catalog': defineMethod({
    params: z.strictObject({}),
    result: z.object({ tools: z.array(toolEntry), count: z.number() }),
    docs: 'Lists the tools with their title and summary for people, their description and JSON Schema for models, their source, and whether they need an approval.',
    policy: { scope: 'read' },
  }),
  'tools.run': defineMethod({
    params: z.strictObject({
      tool: z.string().min(1).max(300),
      args: z.record(z.string(), z.unknown()).default({}),
      agentId: agentId.default('main'),
      /** The ID to pass to `tools.cancel`. */
      callId: callId.optional(),
    }),
    result: z.object({
      result: z.unknown(),
      files: z.array(toolFile),
      pictures: z.array(toolPicture),
      /** Milliseconds, including the time spent waiting for an approval. */
      durationMs: z.number(),
    }),
    emits: ['approval.requested', 'approval.resolved'],
    docs: 'Runs a tool with the permissions of an agent. A tool that the agent may not use returns `NOT_FOUND`; a tool that makes changes waits for an approval first. The response is returned when the tool ends. The call is aborted when the connection closes, or by `tools.cancel` with its `callId`; it then returns `ABORTED`.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS', 'ABORTED'],
    policy: { scope: 'admin' },
  }),
  'tools.cancel': defineMethod({
    params: z.strictObject({ callId }),
    result: z.object({ cancelled: z.boolean() }),
    docs: 'Aborts a `tools.run` call of the same principal, including one that waits for an approval. `cancelled` is false if the call has not started or has already ended.',
    policy: { scope: 'admin' },
  }),
};
