import { toResetMarker } from '#shared/demo-suffix.ts';
import { deleteDB } from 'idb';
import type { ExternalDeps } from '../host/host-options.ts';
import { createDemoBridge } from './demo-bridge.ts';
import { drawDesktop } from './demo-desktop.ts';
import { createDemoFetch } from './demo-fetch.ts';
import { startDemo } from './seed-demo.ts';

/** The demo's environment: a scripted model, a made-up machine, and no network. Deletes the data first if a page has asked for that. */
export async function createDemoDeps(nameSuffix: string): Promise<ExternalDeps> {
  await deleteMarkedData(nameSuffix);
  return {
    bridge: createDemoBridge(),
    fetch: createDemoFetch(),
    seed: (gateway, vault) => startDemo({ gateway, vault, drawPicture: async () => (await drawDesktop()).screenshotB64 }),
  };
}

/** Deletes the gateway's databases if there is a marker, which goes last: an interrupted reset is continued. */
async function deleteMarkedData(nameSuffix: string): Promise<void> {
  const marker = toResetMarker(nameSuffix);
  const names = (await indexedDB.databases()).map(({ name = '' }) => name);
  if (!names.includes(marker)) return;
  const isKept = (name: string): boolean => name === marker || name.startsWith('perch-page');
  for (const name of names) if (name.endsWith(nameSuffix) && !isKept(name)) await deleteDB(name);
  await deleteDB(marker);
}
