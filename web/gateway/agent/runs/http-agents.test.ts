import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { EventBus } from '../../system/event-bus.ts';
import { HttpAgents } from './http-agents.ts';
import type { RunRequest } from './run-types.ts';

verifies('http/hang-up', 'a caller who leaves an agent’s session before its run has begun ends that run', async () => {
  const begins = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<string>();
  const runs = {
    async send({ onrun }: RunRequest): Promise<never> {
      await begins.promise;
      onrun?.('run-1');
      throw new Error(await aborted.promise);
    },
    abortRun: (id: string) => aborted.resolve(`${id} was aborted`),
  };
  const agent = () => ({ systemPrompt: 'You are Ada.' });
  const agents = new HttpAgents({ hub: new EventBus(), runs, agent } as unknown as ConstructorParameters<typeof HttpAgents>[0]);
  const leaving = new AbortController();
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const answer = agents
    .run({ agentId: 'main', sessionId: 's', messages, principal: 'owner', generationOptions: {}, signal: leaving.signal })
    .next();
  leaving.abort();
  begins.resolve();
  await expect(answer).rejects.toThrow('run-1 was aborted');
});
