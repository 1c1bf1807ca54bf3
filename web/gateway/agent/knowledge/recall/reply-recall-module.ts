import { defineModule } from '../../../system/modules.ts';
import type { ReplyRecallDeps } from './reply-recall.ts';

/** Active recall before replies. */
export const replyRecallModule = defineModule<ReplyRecallDeps>()({
  name: 'replyRecall',
  needs: ['longTermMemories', 'labels', 'clock', 'settings', 'log'],
  load: async (needs) => new (await import('./reply-recall.ts')).ReplyRecall(needs),
});
