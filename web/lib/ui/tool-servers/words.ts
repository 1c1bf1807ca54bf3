import type { ToolServer } from '#lib/state/tool-servers.svelte.ts';

/** How it stands with a tool server, in a word or two. */
export const stateWords: Readonly<Record<ToolServer['state'], string>> = {
  off: 'Switched off',
  waiting: 'Waits for your approval',
  unauthorized: 'Wants your permission',
  starting: 'Starting…',
  ready: 'Connected',
  failed: 'Does not work',
};
