import { type Clock, every } from '#shared/async/clock.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { McpServersDeps, McpServers } from './mcp-servers.ts';

/** Interval of checks for changed server settings. */
const CHECK_INTERVAL_MS = 5000;

/** MCP servers; the code is loaded when one is configured or requested. */
export interface LazyMcp {
  load(): Promise<McpServers>;
  /** Called when the settings may have changed. */
  refresh(): void;
  /** Called when a person has written these servers into the configuration file. */
  approveEntered(names: readonly string[]): void;
  /** Stops all servers. */
  stop(): void;
}

export function createLazyMcp(deps: McpServersDeps & { clock: Clock }): LazyMcp {
  const { clock, config, fault } = deps;
  let servers: McpServers | undefined;
  let stopped = false;
  const load = lazy(async () => {
    const { McpServers } = await import('./mcp-servers.ts');
    servers = new McpServers(deps);
    if (stopped) await servers.stop();
    return servers;
  });
  const refresh = (): void => {
    if (stopped || (!servers && Object.keys(config.settings.tools.mcpServers ?? {}).length === 0)) return;
    load()
      .then((loadedServers) => loadedServers.refresh())
      .catch(fault);
  };
  const stopRefreshing = every(clock, CHECK_INTERVAL_MS, refresh);
  refresh();
  return {
    load,
    refresh,
    approveEntered(names) {
      if (names.length > 0)
        load()
          .then((loadedServers) => loadedServers.approveEntered(names))
          .catch(fault);
    },
    stop() {
      stopped = true;
      stopRefreshing();
      servers?.stop().catch(fault);
    },
  };
}
