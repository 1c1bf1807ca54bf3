import { openPlaces } from '#shared/sync/nats/places.ts';
import { problemOf } from '#shared/sync/nats/problems.ts';
import type { BrowserWay } from '#shared/sync/nats/way.ts';
import { connectTo } from './connect.ts';
import { sharingKeys, WebSeal } from './web-seal.ts';

/** Tests whether the cluster admits this browser and the vault of this key (256 bit, base64url). Rejects with a message for people. */
export async function tryOut(way: BrowserWay, vaultKey: string): Promise<void> {
  const seal = await WebSeal.of(await sharingKeys(vaultKey));
  try {
    const nc = await connectTo(seal.vault, way);
    try {
      await openPlaces(nc, seal);
    } finally {
      await nc.close();
    }
  } catch (error) {
    throw problemOf(error, { who: 'browser' });
  }
}
