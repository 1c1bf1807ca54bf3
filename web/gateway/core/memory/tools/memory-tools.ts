import { z } from '#shared/rpc/zod.ts';
import type { MemoryManager } from '../memory-manager.ts';
import { MEMORY_TOOLS } from './memory-tool-kinds.ts';

/** A tool as models are told of it. */
export interface MemoryTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
  /** Rejects with an Error, a sentence for the model, for arguments that do not fit, and for what failed. */
  execute(args: unknown): Promise<unknown>;
}

/** The five tools over a memory, to register on an agent (interface document 2, section 4.2). */
export function createMemoryTools(memory: MemoryManager): MemoryTool[] {
  return MEMORY_TOOLS.map(({ name, description, params, run }) => {
    const { $schema: _, ...parameters } = z.toJSONSchema(params, { io: 'input' });
    return {
      name,
      description,
      parameters,
      async execute(args) {
        const parsed = params.safeParse(args ?? {});
        if (!parsed.success) {
          const problems = parsed.error.issues.map(({ path, message }) => (path.length > 0 ? `\`${path.join('.')}\` ${message}` : message));
          throw new Error(`Invalid arguments for ${name}: ${problems.join('; ')}.`);
        }
        return run(memory, parsed.data);
      },
    };
  });
}
