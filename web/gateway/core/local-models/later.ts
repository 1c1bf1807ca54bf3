import type { LocalModel } from '#shared/ports/models.ts';
import type { Bridge } from '../bridge.ts';
import { lazy } from '../lazy.ts';
import { bridgeRunner } from '../providers/bridge-runner.ts';
import type { LocalRunner } from '../providers/local-runner.ts';
import { type BrowserModels, noBrowserModels } from './browser-models.ts';
import type { DownloadsDeps, LocalModelDownloads } from './downloads.ts';

/** Runners of local models. */
const runnersOf = (bridge: Bridge, browser: BrowserModels): Record<LocalModel['backend'], LocalRunner> => ({
  gguf: bridgeRunner(bridge, 'gguf'),
  mlx: bridgeRunner(bridge, 'mlx'),
  browser,
});

/** Local models; the code is loaded on first use. */
export interface LazyLocalModels {
  readonly runners: DownloadsDeps['runners'];
  load(): Promise<LocalModelDownloads>;
  /** Adds the origins of current downloads. */
  with(origins: ReadonlySet<string>): ReadonlySet<string>;
  stop(): void;
}

type Deps = Omit<DownloadsDeps, 'asked' | 'runners' | 'browserModels'> & { browserModels?: BrowserModels | undefined };

export function localModelsLater({ browserModels = noBrowserModels, ...deps }: Deps): LazyLocalModels {
  const runners = runnersOf(deps.bridge, browserModels);
  const asked = new Set<string>();
  let downloads: LocalModelDownloads | undefined;
  const load = lazy(
    async () => (downloads = new (await import('./downloads.ts')).LocalModelDownloads({ ...deps, browserModels, runners, asked })),
  );
  return {
    runners,
    load,
    with: (origins) => (asked.size === 0 ? origins : new Set([...origins, ...asked])),
    stop: () => downloads?.stop(),
  };
}
