import { defineModule } from '../../system/modules.ts';
import type { TitlesDeps } from './titles.ts';

/** Titles of chats, created in the background. */
export const titlesModule = defineModule<TitlesDeps>()({
  name: 'titles',
  needs: ['vault', 'hub', 'clock', 'models', 'findSmallModel', 'log', 'silenceMs'],
  load: async (needs) => new (await import('./titles.ts')).Titles(needs),
  stop: (titles) => titles.stop(),
});
