import { defineModule } from '../../system/modules.ts';
import type { McpServersDeps } from './mcp-servers.ts';

/** Interval in milliseconds of checks for changed server settings. */
const CHECK_INTERVAL_MS = 5000;

/** MCP servers: needed once one is configured. */
export const mcpModule = defineModule<McpServersDeps>()({
  name: 'mcp',
  needs: [
    ...(['vault', 'hub', 'clock', 'agents', 'models', 'tools', 'approvalService', 'bridge', 'fetch', 'config', 'version'] as const),
    ...(['authorizations', 'log', 'isServing', 'fault'] as const),
  ],
  load: async (needs) => new (await import('./mcp-servers.ts')).McpServers(needs),
  wakeOn: { if: ({ config }) => Object.keys(config.settings.tools.mcpServers ?? {}).length > 0, every: CHECK_INTERVAL_MS },
  refresh: (servers) => servers.refresh(),
  stop: (servers) => servers.stop(),
});
