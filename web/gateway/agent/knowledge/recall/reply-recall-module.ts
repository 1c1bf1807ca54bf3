import { LONG_TERM_FILE } from '../../../knowledge/memory/layout.ts';
import { defineModule } from '../../../system/modules.ts';
import { getWorkspaceName } from '../../agents.ts';
import type { ReplyRecallDeps } from './reply-recall.ts';

/** Minimum size of the main agent's long-term file for which recall is prepared before the first message: some 500 memories. */
const MIN_PREPARED_BYTES = 64 * 1024;

/** Active recall before replies. */
export const replyRecallModule = defineModule<ReplyRecallDeps>()({
  name: 'replyRecall',
  needs: ['vault', 'main', 'longTermMemories', 'memoryStore', 'labels', 'clock', 'settings', 'log'],
  load: async (needs) => new (await import('./reply-recall.ts')).ReplyRecall(needs),
  wakeOn: {
    async if({ vault: { files }, main, settings }) {
      if (!settings().memory.recall.enabled) return false;
      const [file] = await files.list(getWorkspaceName(main()), LONG_TERM_FILE);
      return file !== undefined && file.size >= MIN_PREPARED_BYTES;
    },
  },
  drain: (recall) => recall.close(),
  stop: (recall) => recall.close(),
});
