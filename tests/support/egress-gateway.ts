import { startTestBridge } from '../../bridge/server/tests/test-bridge.ts';
import { createBridgedGateway } from './bridged-gateway.ts';

/** The complete core behind a real bridge that provides egress. */
export async function createEgressGateway() {
  const bridge = await startTestBridge();
  const gw = await createBridgedGateway({ egress: true });
  await gw.attach(bridge);
  const { client, events } = await gw.client();
  return {
    ...{ bridge, gw, client, events },
    async [Symbol.asyncDispose]() {
      await bridge[Symbol.asyncDispose]();
      await gw[Symbol.asyncDispose]();
    },
  };
}
