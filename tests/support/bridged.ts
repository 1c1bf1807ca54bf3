import { PAIRING_CODE_HEADER } from '#shared/link/hello.ts';
import { serveHttp } from '#shared/link/http.ts';
import type { Mux } from '#shared/link/mux.ts';
import { textLink } from '#shared/link/text-link.ts';
import { LIMITS } from '#shared/rpc/frames.ts';
import type { FakeHost } from '../../bridge/server/tests/fake-host.ts';
import type { TestBridge } from '../../bridge/server/tests/bridge.ts';
import { bridgeOver } from '../../web/gateway/ports/bridge.ts';
import { testGateway, type TestGateway } from './gateway.ts';

export interface BridgedGateway extends TestGateway {
  /** Dials the bridge, as a worker does. */
  attach(to: TestBridge): Promise<FakeHost>;
  detach(): void;
}

/** The whole core in Node behind real bridges with real sockets. */
export async function bridgedGateway(options: Parameters<typeof testGateway>[0] = {}): Promise<BridgedGateway> {
  let mux: Mux | null = null;
  const watchers = new Set<() => void>();
  const tell = (): void => watchers.forEach((watcher) => watcher());
  const bridge = bridgeOver(
    () => mux,
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  );
  const gw = await testGateway({ ...options, bridge });
  return {
    ...gw,
    async attach(to) {
      const host = await to.attach({
        onstream(stream, opening) {
          const { kind, principal, scopes, headers } = opening;
          if (kind === 'http') {
            return serveHttp(stream, opening, to.url, (request) => gw.gateway.fetch(request, { id: principal, scopes }));
          }
          const pairingCode = headers[PAIRING_CODE_HEADER];
          gw.gateway.accept(
            textLink(stream, () => LIMITS.maxPayload),
            { principal, scopes, challenged: true, socket: true, ...(pairingCode === undefined ? {} : { pairingCode }) },
          );
        },
      });
      mux = host.mux;
      tell();
      return host;
    },
    detach() {
      mux?.close();
      mux = null;
      tell();
    },
  };
}
