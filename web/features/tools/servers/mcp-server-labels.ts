import { replacePathsByLabels } from '#app/i18n/replace-paths.ts';
import { m } from '#app/i18n/messages.ts';
import type { McpServerEntry } from '#app/state/mcp-servers.svelte.ts';

/** State of an MCP server in a few words. */
export const MCP_STATE_LABELS: Readonly<Record<McpServerEntry['state'], () => string>> = {
  off: () => m.tools_server_state_off(),
  waiting: () => m.tools_server_state_waiting(),
  unauthorized: () => m.tools_server_state_unauthorized(),
  starting: () => m.tools_server_state_starting(),
  ready: () => m.tools_server_state_ready(),
  failed: () => m.tools_server_state_failed(),
};

/** Replaces setting paths in a sentence of the gateway or bridge (`tools.mcpServers.files.url`) by the labels of the form's fields. */
export const toFieldLabels = (sentence: string): string =>
  replacePathsByLabels(
    sentence,
    /`(?:tools\.mcpServers\.[\w-]+\.)?(?:command|url|args(?:\.\d+)?)`|^(?:command|url|args(?:\.\d+)?)(?=: )/g,
    () => m.tools_server_what(),
  );
