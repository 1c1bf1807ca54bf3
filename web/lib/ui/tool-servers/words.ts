import { byLabels } from '#lib/i18n/by-labels.ts';
import { m } from '#lib/i18n/pages.ts';
import type { ToolServer } from '#lib/state/tool-servers.svelte.ts';

/** How it stands with a tool server, in a word or two. */
export const stateWords: Readonly<Record<ToolServer['state'], () => string>> = {
  off: () => m.tools_server_state_off(),
  waiting: () => m.tools_server_state_waiting(),
  unauthorized: () => m.tools_server_state_unauthorized(),
  starting: () => m.tools_server_state_starting(),
  ready: () => m.tools_server_state_ready(),
  failed: () => m.tools_server_state_failed(),
};

/** What the gateway and the bridge say of a tool server, with its settings (`tools.mcpServers.files.url`) called as the form's field is. */
export const saidOfServer = (sentence: string): string =>
  byLabels(sentence, /`(?:tools\.mcpServers\.[\w-]+\.)?(?:command|url|args(?:\.\d+)?)`|^(?:command|url|args(?:\.\d+)?)(?=: )/g, () =>
    m.tools_server_what(),
  );
