import { expect, it } from 'vitest';
import { contracts } from '#shared/rpc/methods/index.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Agent } from '../agents.ts';
import type { Caller } from '../../system/caller.ts';
import { defineTool } from './define-tool.ts';
import { ToolRegistry } from './tool-registry.ts';
import { toolMethods } from './tool-methods.ts';

const registryFor = (): ToolRegistry => new ToolRegistry((id) => ({ id, config: {} }) as Agent);
const caller = (principal: string): Caller => ({ principal, signal: new AbortController().signal }) as Partial<Caller> as Caller;

it('a running tool can be aborted only by its caller, whatever the tool returns', async () => {
  const registry = registryFor();
  const begun = Promise.withResolvers<AbortSignal>();
  registry.register(
    defineTool({
      ...{ name: 'wait', title: 'Wait', summary: 'Waits.', description: 'Waits', source: 'core', scope: null, params: z.strictObject({}) },
      run: (_, { signal }) => {
        begun.resolve(signal);
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('it broke off'))));
      },
    }),
  );
  const methods = toolMethods({ tools: registry, clock: { now: () => 0 } as never, vault: undefined as never }).handlers;
  const ran = methods['tools.run']({ tool: 'wait', args: {}, agentId: 'main', callId: 'a' }, caller('one'));
  const signal = await begun.promise;
  expect(await methods['tools.cancel']({ callId: 'a' }, caller('two'))).toEqual({ cancelled: false });
  expect(signal.aborted).toBe(false);
  expect(await methods['tools.cancel']({ callId: 'a' }, caller('one'))).toEqual({ cancelled: true });
  expect(signal.aborted).toBe(true);
  await expect(ran).rejects.toMatchObject({ code: 'ABORTED' });
});

it('lists a title and a summary of each tool for people, also by the name that models use', async () => {
  const registry = registryFor();
  const tool = { description: 'For models', schema: { type: 'object' }, run: () => Promise.resolve(null) };
  registry.register({ ...tool, name: 'file_read', title: 'Read file', summary: 'Reads a file.', source: 'core' });
  registry.register({ ...tool, name: 'mcp:a:sum', modelName: 'mcp__a__sum', title: 'Add', summary: 'Adds.', source: 'mcp:a' });
  const methods = toolMethods({ tools: registry, clock: { now: () => 0 } as never, vault: undefined as never }).handlers;
  const { tools, labels } = contracts['tools.list'].result.parse(await methods['tools.list']({}, caller('one')));
  expect(tools).toEqual(['file_read', 'mcp:a:sum']);
  expect(labels).toEqual({
    tool_search: { title: 'Search tools', summary: 'Finds tools for a task.' },
    file_read: { title: 'Read file', summary: 'Reads a file.' },
    'mcp:a:sum': { title: 'Add', summary: 'Adds.' },
    mcp__a__sum: { title: 'Add', summary: 'Adds.' },
  });
  const catalog = contracts['tools.catalog'].result.parse(await methods['tools.catalog']({}, caller('one')));
  expect(catalog.tools.map(({ name, title, summary, description }) => [name, title, summary, description])).toEqual([
    ['file_read', 'Read file', 'Reads a file.', 'For models'],
    ['mcp:a:sum', 'Add', 'Adds.', 'For models'],
  ]);
});

it('says which calls of a tool wait for an approval, unless all of them do', async () => {
  const policies: Record<string, 'ask' | 'auto'> = { always: 'ask', never: 'auto' };
  const registry = new ToolRegistry((id) => ({ id, config: {} }) as Agent, {
    getPolicy: ({ name, effect }) => policies[name] ?? (effect ? 'ask' : 'auto'),
    isGranted: () => false,
    requestApproval: () => Promise.resolve(),
  });
  const tool = {
    title: 'Write',
    summary: 'Writes.',
    description: 'Writes',
    source: 'core',
    scope: null,
    params: z.strictObject({ skill: z.boolean() }),
  };
  const effect = ({ skill }: { skill: boolean }): string | undefined => (skill ? 'Write a skill' : undefined);
  for (const name of ['some', 'always', 'never'])
    registry.register(defineTool({ ...tool, name, effect, asksWhen: 'Asks for skills.', run: () => null }));
  const { tools } = await toolMethods({ tools: registry, clock: { now: () => 0 } as never, vault: undefined as never }).handlers[
    'tools.catalog'
  ]({}, caller('one'));
  expect(tools.map(({ name, policy, asksWhen }) => [name, policy, asksWhen])).toEqual([
    ['always', 'ask', undefined],
    ['never', 'auto', undefined],
    ['some', 'ask', 'Asks for skills.'],
  ]);
});
