import { defineModule } from '../../system/modules.ts';
import type { LocalModelDownloadsDeps } from './local-model-downloads.ts';

/** Local models and their downloads. */
export const localModelsModule = defineModule<LocalModelDownloadsDeps>()({
  name: 'localModels',
  needs: ['bridge', 'browserModels', 'runners', 'config', 'clock', 'fetch', 'hub', 'activeOrigins', 'fault'],
  load: async (needs) => new (await import('./local-model-downloads.ts')).LocalModelDownloads(needs),
  stop: (downloads) => downloads.stop(),
});
