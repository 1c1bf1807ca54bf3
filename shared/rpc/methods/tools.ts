import { call } from '../contract.ts';
import { z } from '../zod.ts';

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
    result: z.object({
      tools: z.array(
        z.object({ name: z.string(), description: z.string(), schema: z.record(z.string(), z.unknown()).optional(), source: z.string() }),
      ),
      count: z.number(),
    }),
    docs: 'Tools with their JSON Schema and where they come from.',
    policy: { scope: 'read' },
  }),
};
