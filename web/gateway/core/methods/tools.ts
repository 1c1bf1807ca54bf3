import type { tools } from '#shared/rpc/methods/tools.ts';
import type { Clock } from '../clock.ts';
import type { Handlers } from '../dispatch.ts';
import type { Picture, SentFile, ToolRegistry } from '../tools/registry.ts';

export const toolMethods = ({ tools: registry, clock }: { tools: ToolRegistry; clock: Clock }): Handlers<typeof tools> => ({
  'tools.list': async () => {
    await registry.ready();
    return { tools: registry.list().map(({ name }) => name) };
  },
  'tools.catalog': async () => {
    await registry.ready();
    const list = registry.list().map((tool) => ({
      ...{ name: tool.name, description: tool.description, schema: tool.schema, source: tool.source },
      ...{ effect: tool.effect !== undefined, policy: registry.policyOf(tool) },
    }));
    return { tools: list, count: list.length };
  },
  'tools.run': async ({ tool, args, agentId }, { principal, signal }) => {
    const files: SentFile[] = [];
    const pictures: Picture[] = [];
    const began = clock.now();
    const result = await registry.run(
      { tool, args },
      {
        ...{ agentId, sessionKey: null, runId: null, principal, signal },
        send: (file) => void files.push(file),
        show: (picture) => void pictures.push(picture),
      },
    );
    return {
      result: result ?? null,
      files: files.map(({ filename, mimeType, data, note }) => ({ filename, mimeType, data, ...(note === undefined ? {} : { note }) })),
      pictures,
      durationMs: clock.now() - began,
    };
  },
});
