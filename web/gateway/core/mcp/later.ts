import { type Clock, every } from '../clock.ts';
import { lazy } from '../lazy.ts';
import type { McpDeps, McpServers } from './servers.ts';

/** Interval of checks for changed server settings. */
const LOOK_MS = 5000;

/** MCP servers; the code is loaded when one is configured or requested. */
export interface LazyMcp {
  load(): Promise<McpServers>;
  /** Called when the settings may have changed. */
  look(): void;
  /** Called when a person has written these servers into the configuration file. */
  typed(names: readonly string[]): void;
  /** Stops all servers. */
  stop(): void;
}

export function mcpLater(deps: McpDeps & { clock: Clock }): LazyMcp {
  const { clock, config, fault } = deps;
  let servers: McpServers | undefined;
  let stopped = false;
  const load = lazy(async () => {
    const { McpServers } = await import('./servers.ts');
    servers = new McpServers(deps);
    if (stopped) await servers.stop();
    return servers;
  });
  const look = (): void => {
    if (stopped || (!servers && Object.keys(config.settings.tools.mcpServers ?? {}).length === 0)) return;
    load()
      .then((there) => there.look())
      .catch(fault);
  };
  const stopLooking = every(clock, LOOK_MS, look);
  look();
  return {
    load,
    look,
    typed(names) {
      if (names.length > 0)
        load()
          .then((there) => there.typed(names))
          .catch(fault);
    },
    stop() {
      stopped = true;
      stopLooking();
      servers?.stop().catch(fault);
    },
  };
}
