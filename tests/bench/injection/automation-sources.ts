import { GatewayClient } from '#shared/client/client.ts';
import type { HookAction } from '#shared/rpc/methods/hook-contracts.ts';
import { createCollection, toFile } from '../../../web/gateway/agent/collections/fixture.ts';
import { waitFor } from '../../support/test-gateway.ts';
import type { World } from './injection-world.ts';
import { runLaundering, runOrderInChat, type Source, toStep } from './local-sources.ts';
import { INJECTED_ORDER, type ModelStep } from './obedient-model.ts';

const CHAT = { kind: 'chat', agentId: 'main', sessionId: 'main' } as const;

/** Creates a hook, calls it with the order, and waits until the call is handled. */
async function callHook({ client, gw }: World, action: HookAction): Promise<void> {
  const { secret } = await client.call('hooks.create', { hook: { direction: 'in', name: 'ci', preset: 'json', action, events: [] } });
  const headers = { 'content-type': 'application/json', 'x-hook-secret': secret };
  const request = new Request('http://gateway.test/hooks/ci', { method: 'POST', headers, body: JSON.stringify({ text: INJECTED_ORDER }) });
  const response = await gw.gateway.fetch(request, { id: 'hook', scopes: [] });
  if (response.status !== 202) throw new Error(await response.text());
  await waitFor(
    async () => (await client.call('hooks.deliveries', { name: 'ci' })).deliveries.every(({ endedAt }) => endedAt !== null),
    'the end of the call',
  );
}

/** Resolves when a message was delivered to a chat. */
const waitForDelivery = ({ client }: World): Promise<unknown> =>
  waitFor(async () => (await client.call('deliveries.list', {})).deliveries.some(({ state }) => state === 'delivered'), 'the delivery');

const toAgentAction = (sessionId?: string): HookAction => ({
  ...{ kind: 'agent', agentId: 'main', template: 'Look at this: {{message}}' },
  ...(sessionId === undefined ? {} : { sessionId }),
});

const collectionSource = (name: string, read: ModelStep): Source => ({
  name,
  attack: (world, order) =>
    runOrderInChat(world, order, async () => {
      const { id } = await createCollection(world.client, [toFile('tulips.md', INJECTED_ORDER)]);
      await world.client.call('sessions.setCollections', { path: 'main/main.jsonl', collectionIds: [id] });
      await world.chat('What do my documents say?', [read]);
    }),
});

/** Content that arrives without the owner, or from what the owner has set up. */
export const AUTOMATION_SOURCES: readonly Source[] = [
  { name: 'call of a hook', attack: (world, order) => runOrderInChat(world, order, () => callHook(world, toAgentAction())) },
  {
    name: 'call of a hook, in the next reply of its chat',
    async attack(world, order) {
      await callHook(world, toAgentAction('main'));
      await runOrderInChat(world, order, () => world.chat('Go on'));
    },
  },
  {
    name: 'message of a hook in a chat',
    attack: (world, order) =>
      runOrderInChat(world, order, async () => {
        await callHook(world, { kind: 'message', target: CHAT, template: '{{message}}' });
        await waitForDelivery(world);
        await world.chat('Go on');
      }),
  },
  {
    name: 'message that a limited key sent to a chat',
    async attack(world, order) {
      const { client, gw, model } = world;
      await client.call('config.patch', { patch: { deliveries: { targets: [{ id: 'me', name: 'Me', target: CHAT }] } } });
      const { key } = await client.call('keys.create', { name: 'Script', scopes: ['chat', 'automation'] });
      const link = gw.link({ principal: `key:${key.id}`, scopes: key.scopes });
      const program = await GatewayClient.connect(link, { params: { clientName: 'a program' } });
      model.ownerRequests.push(toStep('message_send', { to: 'Me', text: INJECTED_ORDER }));
      await program.call('chat.send', { sessionId: 'own', message: 'Tell the owner' });
      await waitForDelivery(world);
      await runOrderInChat(world, order, () => world.chat('Go on'));
    },
  },
  collectionSource('document of a collection', toStep('collection_search', { query: 'notice about tulips' })),
  collectionSource('document of a collection, read whole', toStep('collection_read', { document: 'tulips.md' })),
  {
    name: 'plan of a tainted run, continued in a chat that was reset',
    attack: (world, order) =>
      runLaundering(world, toStep('plan_create', { goal: 'Tulips', steps: [INJECTED_ORDER] }), order, async () => {
        const { client } = world;
        await client.call('sessions.reset', { path: 'main/main.jsonl' });
        const [plan] = (await client.call('plan.list', {})).plans;
        await client.call('plan.resume', { planId: plan?.id ?? '' });
        await waitFor(async () => (await client.call('plan.list', {})).plans.every(({ status }) => status === 'paused'), 'the pause');
      }),
  },
];
