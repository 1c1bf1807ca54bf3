import type { KeptModel } from '#shared/ports/browser-models.ts';
import type { BrowserDownloadWish } from '../core/local-models/browser-models.ts';
import type { Processor } from './choice.ts';
import { downloadToBrowser } from './download.ts';
import { BrowserHub } from './hub.ts';
import type { KeptModels } from './kept-models.ts';

interface Gpu {
  requestAdapter(): Promise<{ features: ReadonlySet<string> } | null>;
}

/** Downloads a model that suits this browser into its storage. Rejects with a message for people. */
export async function fetchModel(wish: BrowserDownloadWish, kept: KeptModels): Promise<KeptModel> {
  const { hub: base, fetch, asking, ...rest } = wish;
  return downloadToBrowser({ ...rest, hub: new BrowserHub({ base, fetch, asking }), kept, processor: await processorOf(navigator), free });
}

/** The processor that runs models. */
async function processorOf({ gpu }: { gpu?: Gpu }): Promise<Processor> {
  const adapter = await gpu?.requestAdapter().catch(() => null);
  if (!adapter) return 'cpu';
  return adapter.features.has('shader-f16') ? 'half' : 'gpu';
}

async function free(): Promise<number | null> {
  // Undefined in an insecure context.
  const storage: StorageManager | undefined = navigator.storage;
  const { usage, quota } = (await storage?.estimate().catch(() => undefined)) ?? {};
  return usage === undefined || quota === undefined ? null : quota - usage;
}
