import type { ChannelEntry } from '#shared/rpc/methods/channel-contracts.ts';
import { definePort } from '#shared/ports/port.ts';
import { createFetch } from '../../web/gateway/ports/create-fetch.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeBridge, createCapability, type FakeCapability } from './fake-bridge.ts';
import { createScript, createScriptedModel, type ModelScript, type TestGateway, createTestGateway } from './test-gateway.ts';

/** Replaces the bridge's egress: tests request their servers directly, restricted to the gateway's allowed origins. */
export const egressCapability: FakeCapability = createCapability(
  definePort({ kind: 'egress', featureName: 'Going out', calls: {}, events: {} }),
  {},
);

/** Advances the clock, giving sockets time, until the condition holds. `getPendingCount`: number of requests that must complete before each step. */
export async function advanceUntil(
  clock: FakeClock,
  condition: () => boolean | Promise<boolean>,
  label = 'the condition',
  stepMs = 1000,
  getPendingCount = (): number => 0,
): Promise<void> {
  for (let steps = 0; !(await condition()); steps++) {
    if (steps > 1000) throw new Error(`${label} did not come about, however far the clock went`);
    for (let turn = 0; turn < 3 || (getPendingCount() > 0 && turn < 300); turn++) await new Promise((resolve) => setTimeout(resolve, 2));
    clock.advance(stepMs);
  }
}

type ChannelGateway = TestGateway & {
  clock: FakeClock;
  status(channelId: string): Promise<ChannelEntry & { channel_id: string }>;
  advanceUntil(condition: () => boolean | Promise<boolean>, label?: string, stepMs?: number): Promise<void>;
};

/** A gateway with a bridge whose channels connect to real servers; its model is scripted. */
export async function createChannelGateway(
  channels: Record<string, unknown>,
  {
    model = createScript(['Hello', ' there']),
    clock = new FakeClock(),
    bridge = new FakeBridge(egressCapability),
    ...options
  }: Omit<NonNullable<Parameters<typeof createTestGateway>[0]>, 'clock' | 'model' | 'bridge'> & {
    model?: ModelScript;
    clock?: FakeClock;
    bridge?: FakeBridge;
  } = {},
): Promise<ChannelGateway> {
  const scripted = createScriptedModel(model);
  let pendingCount = 0;
  const out = createFetch({ getAllowedOrigins: () => gw.gateway.origins(), getEgress: () => null });
  const gw: TestGateway = await createTestGateway({
    ...{ clock, bridge, ...options },
    fetch: async (url, init) => {
      if (url.startsWith('http://model.test/')) return scripted.fetch(url, init);
      // A long poll for messages does not count as pending.
      if (/\/getUpdates$|\/sync\?|\/api\/v1\/events/.test(url)) return out(url, init);
      pendingCount++;
      return out(url, init).finally(() => pendingCount--);
    },
  });
  const { client } = await gw.client();
  await client.call('config.patch', { patch: { channels } });
  return {
    ...gw,
    calls: scripted.calls,
    clock,
    status: async (channelId) => {
      const { channel_id, ...state } = await client.call('channels.status', { channelId });
      return { ...state, id: channel_id, channel_id };
    },
    advanceUntil: (condition, label, stepMs) => advanceUntil(clock, condition, label, stepMs, () => pendingCount),
  };
}
