import { startTestBridge } from '../../bridge/server/tests/bridge.ts';
import { bridgedGateway } from './bridged.ts';

/** The whole core behind a real bridge that provides egress. */
export async function egressing() {
  const bridge = await startTestBridge();
  const gw = await bridgedGateway({ egress: true });
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
