import { MAX_BODY_BYTES } from '#shared/http/body-limits.ts';
import { RESPONSES_KIND } from '#shared/http/responses-socket.ts';
import { PAIRING_CODE_HEADER } from '#shared/link/hello.ts';
import { joinScopes } from '#shared/rpc/scopes.ts';
import { serveHttp } from '#shared/link/stream-http.ts';
import type { Mux } from '#shared/link/mux.ts';
import { SPLICE_FAILURE_KIND, isBypassResponse, USAGE_RECEIPTS_KIND, type SplicedCall, WITHDRAW_KIND } from '#shared/link/splice.ts';
import { textLink } from '#shared/link/text-link.ts';
import { PROTOCOL_LIMITS } from '#shared/rpc/frames.ts';
import type { FakeHost } from '../../bridge/server/tests/fake-host.ts';
import type { TestBridge } from '../../bridge/server/tests/test-bridge.ts';
import { createUplinkBridge } from '../../web/gateway/ports/uplink-bridge.ts';
import { createFetch } from '../../web/gateway/ports/create-fetch.ts';
import { serveStreamEnds, serveReceipts } from '../../web/gateway/ports/serve-receipts.ts';
import { createTestGateway, type TestGateway } from './test-gateway.ts';

export interface BridgedGateway extends TestGateway {
  /** Dials the bridge, as a worker does. */
  attach(to: TestBridge): Promise<FakeHost>;
  detach(): void;
  /** Calls whose responses may bypass the core, and those whose responses did, as reported to the core. */
  forwardedCalls: SplicedCall[];
  splicedCalls: SplicedCall[];
}

/** The complete core in Node behind real bridges with real sockets. `egress`: requests to providers go through the bridge. */
export async function createBridgedGateway({
  egress = false,
  ...options
}: Parameters<typeof createTestGateway>[0] & { egress?: boolean } = {}): Promise<BridgedGateway> {
  let mux: Mux | null = null;
  const forwarded: SplicedCall[] = [];
  const spliced: SplicedCall[] = [];
  const watchers = new Set<() => void>();
  const notifyWatchers = (): void => watchers.forEach((watcher) => watcher());
  const bridge = createUplinkBridge(
    () => mux,
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  );
  const goOut = createFetch({ getAllowedOrigins: () => gw.gateway.origins(), getEgress: () => mux });
  const fetch: typeof goOut = async (url, init) => {
    if (init.forward) forwarded.push(init.forward.call);
    const response = await goOut(url, init);
    if (init.forward && isBypassResponse(response)) spliced.push(init.forward.call);
    return response;
  };
  const changed = (): void => void mux?.open({ kind: WITHDRAW_KIND }).end();
  const gw: TestGateway = await createTestGateway({ ...options, bridge, changed, ...(egress ? { fetch, useGuide: true } : {}) });
  return {
    ...gw,
    forwardedCalls: forwarded,
    splicedCalls: spliced,
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
          if (kind === USAGE_RECEIPTS_KIND) return serveReceipts(stream, opening, async () => gw.gateway);
          if (kind === SPLICE_FAILURE_KIND) return serveStreamEnds(stream, opening, async () => gw.gateway);
          const pairingCode = headers[PAIRING_CODE_HEADER];
          gw.gateway.accept(
            textLink(stream, () => PROTOCOL_LIMITS.maxPayload),
            { principal, scopes, challenged: true, socket: true, ...(pairingCode === undefined ? {} : { pairingCode }) },
          );
        },
      });
      mux = host.mux;
      notifyWatchers();
      return host;
    },
    detach() {
      mux?.close();
      mux = null;
      notifyWatchers();
    },
  };
}
