import { call } from '../contract.ts';
import { agentId } from '../records.ts';
import { z } from '../zod.ts';

/** Whether a tool runs without asking, after a person's word, or never. */
export const TOOL_POLICIES = ['auto', 'ask', 'deny'] as const;
export type ToolPolicy = (typeof TOOL_POLICIES)[number];

const catalogEntry = z.object({
  name: z.string(),
  description: z.string(),
  schema: z.record(z.string(), z.unknown()).optional(),
  /** `core`, `memory`, `office`, `bridge`, …, `mcp:<server>`. */
  source: z.string(),
  /** Whether a call of it may do more than look or remember. */
  effect: z.boolean(),
  /** How such a call runs, by `tools.policies` and what holds where they say nothing. */
  policy: z.enum(TOOL_POLICIES),
});
/** A tool that agents can use. */
export type CatalogEntry = z.infer<typeof catalogEntry>;

/** What came with the result of a tool; `data` is Base64. */
const file = z.object({ filename: z.string(), mimeType: z.string(), data: z.string(), note: z.string().optional() });
const picture = z.object({ mimeType: z.string(), data: z.string() });

/** By whom a call is made, unique among those of its principal that run. */
const callId = z.string().min(1).max(100);

/** The tools agents can use (interface document 1, section 4.1). */
export const tools = {
  'tools.list': call({
    params: z.strictObject({}),
    result: z.object({ tools: z.array(z.string()) }),
    docs: 'Tool names.',
    policy: { scope: 'read' },
  }),
  'tools.catalog': call({
    params: z.strictObject({}),
    result: z.object({ tools: z.array(catalogEntry), count: z.number() }),
    docs: 'Tools with their JSON Schema, where they come from, and whether a person is asked first.',
    policy: { scope: 'read' },
  }),
  'tools.run': call({
    params: z.strictObject({
      tool: z.string().min(1).max(300),
      args: z.record(z.string(), z.unknown()).default({}),
      agentId: agentId.default('main'),
      /** What `tools.cancel` calls it. */
      callId: callId.optional(),
    }),
    result: z.object({
      result: z.unknown(),
      files: z.array(file),
      pictures: z.array(picture),
      /** Milliseconds, with the time that a person took. */
      durationMs: z.number(),
    }),
    emits: ['approval.requested', 'approval.resolved'],
    docs: 'Runs a tool by hand, as the agent would: what it may not use is `NOT_FOUND`, and what has an effect waits for a person’s word first. It answers when the tool has; where the connection ends, the tool is aborted; with a `callId`, `tools.cancel` aborts it, and it is `ABORTED`.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS', 'ABORTED'],
    policy: { scope: 'admin' },
  }),
  'tools.cancel': call({
    params: z.strictObject({ callId }),
    result: z.object({ cancelled: z.boolean() }),
    docs: 'Aborts a call of `tools.run` of the same principal, also one that waits for a person’s word. `cancelled` is false where it does not run, or no more.',
    policy: { scope: 'admin' },
  }),
};
