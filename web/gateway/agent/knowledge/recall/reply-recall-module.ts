import { LONG_TERM_FILE } from '../../../knowledge/memory/layout.ts';
import { defineModule } from '../../../system/modules.ts';
import { getWorkspaceName } from '../../agents.ts';
import type { ReplyRecallDeps } from './reply-recall.ts';

/** Minimum size of a long-term file for which recall is prepared before the first message: some 500 memories. */
const MIN_PREPARED_BYTES = 64 * 1024;

/** Active recall before replies. */
export const replyRecallModule = defineModule<ReplyRecallDeps>()({
  name: 'replyRecall',
  needs: ['vault', 'agents', 'longTermMemories', 'memoryStore', 'labels', 'clock', 'settings', 'log'],
  load: async (needs) => new (await import('./reply-recall.ts')).ReplyRecall(needs),
  wakeOn: {
    async if({ vault: { files }, agents, settings }) {
      if (!settings().memory.recall.enabled) return false;
      for (const workspace of new Set(agents.list().map(getWorkspaceName))) {
        const [file] = await files.list(workspace, LONG_TERM_FILE);
        if (file && file.size >= MIN_PREPARED_BYTES) return true;
      }
      return false;
    },
  },
  drain: (recall) => recall.close(),
  stop: (recall) => recall.close(),
});
