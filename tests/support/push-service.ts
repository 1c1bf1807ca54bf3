import { pushPort } from '../../shared/ports/push-port.ts';
import type { PushMessage } from '../../shared/push-message.ts';
import { createPushHandlers } from '../../bridge/capabilities/push-handlers.ts';
import { createCapability, type FakeCapability } from './fake-bridge.ts';
import { startPlatformServer } from './platform-server.ts';
import { createSubscriber, decryptPush } from './push-subscriber.ts';

const PUBLIC_ORIGIN = 'https://push.test';

/** A local push service (RFC 8030), with faults on demand, and the bridge's capability that reaches it at `https://push.test`. */
export async function startPushService() {
  const server = await startPlatformServer(() => ({ status: 201, json: {} }));
  const handlers = createPushHandlers({ local: [new URL(server.url).host] });
  const capability: FakeCapability = createCapability(pushPort, {
    'push.deliver': (params, context) =>
      handlers['push.deliver']({ ...params, endpoint: params.endpoint.replace(PUBLIC_ORIGIN, server.url) }, context),
  });
  return Object.assign(server, {
    capability,
    /** A browser's subscription, and the messages that it can read among those that were sent to it. */
    subscribe(name: string) {
      const subscriber = createSubscriber();
      const path = `/push/${name}`;
      return {
        subscription: { endpoint: `${PUBLIC_ORIGIN}${path}`, keys: subscriber.keys },
        received: (): PushMessage[] =>
          server.asked
            .filter((request) => request.path === path)
            .map(({ body }) => JSON.parse(decryptPush(body, subscriber)) as PushMessage),
      };
    },
  });
}
