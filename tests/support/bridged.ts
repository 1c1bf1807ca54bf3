import { MAX_BODY_BYTES } from '#shared/http/body-limits.ts';
import { RESPONSES_KIND } from '#shared/http/responses-socket.ts';
import { PAIRING_CODE_HEADER } from '#shared/link/hello.ts';
import { joinScopes } from '#shared/rpc/scopes.ts';
import { serveHttp } from '#shared/link/http.ts';
import type { Mux } from '#shared/link/mux.ts';
import { ENDED_KIND, isHeld, RECEIPTS_KIND, type SplicedCall, WITHDRAW_PORT } from '#shared/link/splice.ts';
import { textLink } from '#shared/link/text-link.ts';
import { LIMITS } from '#shared/rpc/frames.ts';
import type { FakeHost } from '../../bridge/server/tests/fake-host.ts';
import type { TestBridge } from '../../bridge/server/tests/bridge.ts';
import { bridgeOver } from '../../web/gateway/ports/bridge.ts';
import { createFetch } from '../../web/gateway/ports/fetch.ts';
import { serveEnded, serveReceipts } from '../../web/gateway/ports/receipts.ts';
import { testGateway, type TestGateway } from './gateway.ts';

export interface BridgedGateway extends TestGateway {
  /** Dials the bridge, as a worker does. */
  attach(to: TestBridge): Promise<FakeHost>;
  detach(): void;
  /** Calls whose responses may bypass the core, and those whose responses did, as reported to the core. */
  forwarded: SplicedCall[];
  spliced: SplicedCall[];
}

/** The whole core in Node behind real bridges with real sockets. `egress`: providers are asked through the bridge. */
export async function bridgedGateway({
  egress = false,
  ...options
}: Parameters<typeof testGateway>[0] & { egress?: boolean } = {}): Promise<BridgedGateway> {
  let mux: Mux | null = null;
  const forwarded: SplicedCall[] = [];
  const spliced: SplicedCall[] = [];
  const watchers = new Set<() => void>();
  const tell = (): void => watchers.forEach((watcher) => watcher());
  const bridge = bridgeOver(
    () => mux,
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  );
  const goOut = createFetch({ allowed: () => gw.gateway.origins(), egress: () => mux });
  const fetch: typeof goOut = async (url, init) => {
    if (init.forward) forwarded.push(init.forward.call);
    const response = await goOut(url, init);
    if (init.forward && isHeld(response)) spliced.push(init.forward.call);
    return response;
  };
  const changed = (): void => void mux?.open({ kind: WITHDRAW_PORT }).end();
  const gw: TestGateway = await testGateway({ ...options, bridge, changed, ...(egress ? { fetch, useGuide: true } : {}) });
  return {
    ...gw,
    forwarded,
    spliced,
    async attach(to) {
      const host = await to.attach({
        onstream(stream, opening) {
          const { kind, principal, headers } = opening;
          const scopes = joinScopes(opening);
          if (kind === 'http') {
            return serveHttp(stream, opening, to.url, (request) =>
              gw.gateway.fetch(request, { id: principal, scopes }, egress ? stream : undefined),
            );
          }
          if (kind === RESPONSES_KIND) {
            const link = textLink(stream, () => MAX_BODY_BYTES);
            return void gw.gateway.acceptResponses(link, { id: principal, scopes }, headers);
          }
          if (kind === RECEIPTS_KIND) return serveReceipts(stream, opening, async () => gw.gateway);
          if (kind === ENDED_KIND) return serveEnded(stream, opening, async () => gw.gateway);
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
