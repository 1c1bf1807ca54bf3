import type { NatsConnection } from '@nats-io/transport-node';
import { RecordSeal } from '../../sync/record-seal.ts';
import type { TestNats } from '../../sync/tests/nats-server.ts';
import type { BridgeOptions } from '../../server/start-bridge.ts';
import { startTestBridge, type TestBridge, VAULT_KEY } from '../../server/tests/test-bridge.ts';
import { acceptBridges, dialBridge, type DialContext } from '../dial-bridge.ts';
import { ClusterRoutes } from '../cluster-routes.ts';

/** A bridge connected to NATS that others can dial by its name. */
interface RoutedBridge extends AsyncDisposable {
  bridge: TestBridge;
  routes: ClusterRoutes;
  nc: NatsConnection;
  use(other: string | null): Promise<void>;
}

export async function createRoutedBridge(nats: TestNats, name: string, options: Partial<BridgeOptions> = {}): Promise<RoutedBridge> {
  const bridge = await startTestBridge({ token: 'the-owner', ...options });
  const nc = await nats.operator({ reconnect: false });
  const dialling: DialContext = { nc, seal: new RecordSeal(VAULT_KEY), vaultKey: VAULT_KEY };
  const log = (line: string): void => void bridge.lines.push(line);
  const routes = new ClusterRoutes({ hosts: bridge.bridge.hosts, ...bridge.bridge.shared, log });
  const stop = acceptBridges(dialling, name, (link) => routes.acceptLink(link));
  await nc.flush();
  return {
    bridge,
    routes,
    nc,
    use: (other) => routes.useHost(other, (to) => dialBridge(dialling, to)),
    async [Symbol.asyncDispose]() {
      routes.close();
      if (!nc.isClosed()) stop();
      await nc.close();
      await bridge[Symbol.asyncDispose]();
    },
  };
}
