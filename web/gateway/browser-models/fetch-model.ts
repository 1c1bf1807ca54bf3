import type { StoredBrowserModel } from '#shared/ports/browser-models-port.ts';
import type { BrowserDownloadRequest } from '../providers/local-models/browser-models.ts';
import type { Processor } from './select-model-files.ts';
import { downloadBrowserModel } from './model-download.ts';
import { BrowserHub } from './browser-hub.ts';
import type { ModelStore } from './model-store.ts';

interface GpuProvider {
  requestAdapter(): Promise<{ features: ReadonlySet<string> } | null>;
}

/** Downloads a model that suits this browser into its storage. Rejects with a message for people. */
export async function fetchModel(request: BrowserDownloadRequest, store: ModelStore): Promise<StoredBrowserModel> {
  const { hub: base, fetch, onRequest, ...rest } = request;
  return downloadBrowserModel({
    ...rest,
    hub: new BrowserHub({ base, fetch, onRequest }),
    store,
    processor: await detectProcessor(navigator),
    getFreeBytes,
  });
}

/** The processor that runs models. */
async function detectProcessor({ gpu }: { gpu?: GpuProvider }): Promise<Processor> {
  const adapter = await gpu?.requestAdapter().catch(() => null);
  if (!adapter) return 'cpu';
  return adapter.features.has('shader-f16') ? 'half' : 'gpu';
}

async function getFreeBytes(): Promise<number | null> {
  // Undefined in an insecure context.
  const storage: StorageManager | undefined = navigator.storage;
  const { usage, quota } = (await storage?.estimate().catch(() => undefined)) ?? {};
  return usage === undefined || quota === undefined ? null : quota - usage;
}
