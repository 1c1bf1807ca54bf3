import { openVaultStreams } from '#shared/sync/nats/vault-streams.ts';
import { toClusterProblem } from '#shared/sync/nats/cluster-problem.ts';
import type { BrowserTransport } from '#shared/sync/nats/browser-transport.ts';
import { connectToCluster } from './connect-to-cluster.ts';
import { deriveSharingKeys, WebSeal } from './web-seal.ts';

/** Tests whether the cluster admits this browser and the vault of this key (256 bit, base64url). Rejects with a message for people. */
export async function testCluster(transport: BrowserTransport, vaultKey: string): Promise<void> {
  const seal = await WebSeal.create(await deriveSharingKeys(vaultKey));
  try {
    const nc = await connectToCluster(seal.vault, transport);
    try {
      await openVaultStreams(nc, seal);
    } finally {
      await nc.close();
    }
  } catch (error) {
    throw toClusterProblem(error, { who: 'browser' });
  }
}
