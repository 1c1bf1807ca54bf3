import { expect, it } from 'vitest';
import { z } from '#shared/rpc/zod.ts';
import type { Agent } from '../agents.ts';
import type { Caller } from '../dispatch.ts';
import { defineTool } from '../tools/define-tool.ts';
import { ToolRegistry } from '../tools/registry.ts';
import { toolMethods } from './tools.ts';

const caller = (principal: string): Caller => ({ principal, signal: new AbortController().signal }) as Partial<Caller> as Caller;

it('what runs is aborted by the one who runs it alone, whatever the tool says at its end', async () => {
  const registry = new ToolRegistry((id) => ({ id, config: {} }) as Agent);
  const begun = Promise.withResolvers<AbortSignal>();
  registry.register(
    defineTool({
      ...{ name: 'wait', description: 'Waits', source: 'core', params: z.strictObject({}) },
      run: (_, { signal }) => {
        begun.resolve(signal);
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('it broke off'))));
      },
    }),
  );
  const methods = toolMethods({ tools: registry, clock: { now: () => 0 } as never });
  const ran = methods['tools.run']({ tool: 'wait', args: {}, agentId: 'main', callId: 'a' }, caller('one'));
  const signal = await begun.promise;
  expect(await methods['tools.cancel']({ callId: 'a' }, caller('two'))).toEqual({ cancelled: false });
  expect(signal.aborted).toBe(false);
  expect(await methods['tools.cancel']({ callId: 'a' }, caller('one'))).toEqual({ cancelled: true });
  expect(signal.aborted).toBe(true);
  await expect(ran).rejects.toMatchObject({ code: 'ABORTED' });
});
