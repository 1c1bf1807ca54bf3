import { execPort } from '#shared/ports/exec.ts';
import { systemPort } from '#shared/ports/system.ts';
import type { McpServerState } from '#shared/rpc/methods/mcp.ts';
import { type Check, type DoctorDeps, fine, type Finding, wrong } from './deps.ts';

const AUTHORIZE =
  'Authorize it in Tools, or open the link from `mcp.authorize`, or from `perch mcp authorize` with its name, on your computer.';
const APPROVE = 'Approve it in Tools (`mcp.approve` with the hash from `mcp.list`), or remove the server (`config.set` with null).';
const LOOK = 'Check its output in Tools (`mcp.logs`), then restart it (`mcp.restart`).';

/** Checks of programs that run for agents: commands, and MCP servers. */
export function programChecks({ bridge, config, mcp }: DoctorDeps): Check[] {
  let looked: ReturnType<typeof servers> | undefined;
  const servers = async (): Promise<McpServerState[]> => {
    const all = await mcp();
    await all.look();
    return all.list().servers;
  };
  const exec: Check = {
    id: 'exec',
    title: 'Agent commands',
    async look(signal) {
      if (!bridge.lends(execPort) || !bridge.lends(systemPort)) return null;
      const { user } = await bridge.call(systemPort, 'system.faults', {}, { signal });
      if (!user.root) return fine(`Commands run as user ${user.name}.`);
      return wrong(
        'warning',
        `Commands and MCP servers run as ${user.name}, who has full control of your computer.`,
        'Run `perch gateway run` as a user other than root.',
      );
    },
  };
  const checkOf = (name: string): Check => ({
    id: `tool-server:${name}`,
    title: `MCP server ${name}`,
    async look() {
      const state = (await (looked ??= servers())).find((server) => server.name === name);
      return state ? findingOf(state, config.settings.tools.mcpServers?.[name]?.enabled === false) : null;
    },
  });
  return [exec, ...Object.keys(config.settings.tools.mcpServers ?? {}).map(checkOf)];
}

function findingOf({ state, error = '', tools, changed, problems, wants }: McpServerState, switchedOff: boolean): Finding | null {
  const why = error === '' ? '.' : `: ${error.replace(/\.$/, '')}.`;
  switch (state) {
    case 'off':
      // Otherwise another host runs it.
      return switchedOff ? wrong('info', 'Off.') : null;
    case 'waiting':
      return wrong('warning', 'Not started: its command is waiting for approval.', APPROVE);
    case 'unauthorized':
      return wrong('warning', 'Not connected: it needs authorization.', AUTHORIZE);
    case 'failed':
      return wrong('error', `Failed${why}`, LOOK);
    case 'starting':
      return wrong('info', 'Starting…');
    case 'ready':
  }
  if (changed.length > 0) {
    const names = changed.map(({ tool }) => tool).join(', ');
    return wrong('warning', `These tools are off because their descriptions changed: ${names}.`, APPROVE);
  }
  if (wants !== undefined) return wrong('warning', `It needs more permissions: ${wants}.`, AUTHORIZE);
  if (problems.length > 0) return wrong('info', `Connected, but its tool list has problems: ${problems.join('; ')}.`);
  return fine(`Connected, with ${tools} tool${tools === 1 ? '' : 's'}.`);
}
