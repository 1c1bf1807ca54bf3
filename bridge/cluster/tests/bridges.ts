import type { NatsConnection } from '@nats-io/transport-node';
import { RecordSeal } from '../../sync/record-seal.ts';
import type { TestNats } from '../../sync/tests/nats-server.ts';
import type { BridgeOptions } from '../../server/server.ts';
import { startTestBridge, type TestBridge, VAULT_KEY } from '../../server/tests/bridge.ts';
import { acceptBridges, dialBridge, type Dialling } from '../dial.ts';
import { Routes } from '../routes.ts';

/** A bridge connected to NATS that others can dial by its name. */
export interface Routed extends AsyncDisposable {
  bridge: TestBridge;
  routes: Routes;
  nc: NatsConnection;
  use(other: string | null): Promise<void>;
}

export async function routed(nats: TestNats, name: string, options: Partial<BridgeOptions> = {}): Promise<Routed> {
  const bridge = await startTestBridge({ token: 'the-owner', ...options });
  const nc = await nats.operator({ reconnect: false });
  const dialling: Dialling = { nc, seal: new RecordSeal(VAULT_KEY), vaultKey: VAULT_KEY };
  const log = (line: string): void => void bridge.lines.push(line);
  const routes = new Routes({ hosts: bridge.bridge.hosts, ...bridge.bridge.shared, log });
  const stop = acceptBridges(dialling, name, (link) => routes.take(link));
  await nc.flush();
  return {
    bridge,
    routes,
    nc,
    use: (other) => routes.use(other, (to) => dialBridge(dialling, to)),
    async [Symbol.asyncDispose]() {
      routes.close();
      if (!nc.isClosed()) stop();
      await nc.close();
      await bridge[Symbol.asyncDispose]();
    },
  };
}
