import type { tools } from '#shared/rpc/methods/tools.ts';
import type { Handlers } from '../dispatch.ts';
import type { ToolRegistry } from '../tools/registry.ts';

export const toolMethods = ({ tools: registry }: { tools: ToolRegistry }): Handlers<typeof tools> => ({
  'tools.list': async () => {
    await registry.ready();
    return { tools: registry.list().map(({ name }) => name) };
  },
  'tools.catalog': async () => {
    await registry.ready();
    const list = registry.list().map(({ name, description, schema, source }) => ({ name, description, schema, source }));
    return { tools: list, count: list.length };
  },
});
