import { z } from '#shared/rpc/zod.ts';
import type { MemoryManager } from '../memory-manager.ts';
import { MEMORY_TOOLS } from './memory-tool-definitions.ts';

/** A tool in the form in which models are offered it. */
export interface MemoryTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
  /** Rejects with an Error whose message is meant for the model, if the arguments are invalid or the call fails. */
  execute(args: unknown): Promise<unknown>;
}

/** Creates the five memory tools, to register on an agent. */
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
