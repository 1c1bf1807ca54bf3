import type { LocalModel } from '#shared/ports/local-model.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import { lazy } from '#shared/async/lazy.ts';
import { createBridgeRunner } from '../bridge-model-runner.ts';
import type { LocalRunner } from '../local-runner.ts';
import { type BrowserModels, noBrowserModels } from './browser-models.ts';
import type { LocalModelDownloadsDeps, LocalModelDownloads } from './local-model-downloads.ts';

/** Runners of local models. */
const createRunners = (bridge: Bridge, browser: BrowserModels): Record<LocalModel['backend'], LocalRunner> => ({
  gguf: createBridgeRunner(bridge, 'gguf'),
  mlx: createBridgeRunner(bridge, 'mlx'),
  browser,
});

/** Local models; the code is loaded on first use. */
export interface LazyLocalModels {
  readonly runners: LocalModelDownloadsDeps['runners'];
  load(): Promise<LocalModelDownloads>;
  /** Adds the origins of current downloads. */
  addActiveOrigins(origins: ReadonlySet<string>): ReadonlySet<string>;
  stop(): void;
}

type LazyLocalModelsDeps = Omit<LocalModelDownloadsDeps, 'activeOrigins' | 'runners' | 'browserModels'> & {
  browserModels?: BrowserModels | undefined;
};

export function createLazyLocalModels({ browserModels = noBrowserModels, ...deps }: LazyLocalModelsDeps): LazyLocalModels {
  const runners = createRunners(deps.bridge, browserModels);
  const activeOrigins = new Set<string>();
  let downloads: LocalModelDownloads | undefined;
  const load = lazy(
    async () =>
      (downloads = new (await import('./local-model-downloads.ts')).LocalModelDownloads({
        ...deps,
        browserModels,
        runners,
        activeOrigins,
      })),
  );
  return {
    runners,
    load,
    addActiveOrigins: (origins) => (activeOrigins.size === 0 ? origins : new Set([...origins, ...activeOrigins])),
    stop: () => downloads?.stop(),
  };
}
