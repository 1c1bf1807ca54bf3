import { execPort } from '#shared/ports/exec-port.ts';
import { systemPort } from '#shared/ports/system-port.ts';
import type { McpServerState } from '#shared/rpc/methods/mcp-contracts.ts';
import { type HealthCheck, type DoctorDeps, reportOk, type Finding, reportProblem } from './doctor-deps.ts';

const AUTHORIZE_HINT =
  'Authorize it in Tools, or open the link from `mcp.authorize`, or from `perch mcp authorize` with its name, on your computer.';
const APPROVE_HINT = 'Approve it in Tools (`mcp.approve` with the hash from `mcp.list`), or remove the server (`config.set` with null).';
const LOGS_HINT = 'Check its output in Tools (`mcp.logs`), then restart it (`mcp.restart`).';

/** Checks of programs that run for agents: commands, and MCP servers. */
export function programChecks({ bridge, config, mcp }: DoctorDeps): HealthCheck[] {
  let pendingServers: ReturnType<typeof loadServers> | undefined;
  const loadServers = async (): Promise<McpServerState[]> => {
    const all = await mcp.load();
    await all.refresh();
    return all.list().servers;
  };
  const exec: HealthCheck = {
    id: 'exec',
    title: 'Agent commands',
    async run(signal) {
      if (!bridge.provides(execPort) || !bridge.provides(systemPort)) return null;
      const { user } = await bridge.call(systemPort, 'system.faults', {}, { signal });
      if (!user.root) return reportOk(`Commands run as user ${user.name}.`);
      return reportProblem(
        'warning',
        `Commands and MCP servers run as ${user.name}, who has full control of your computer.`,
        'Run `perch gateway run` as a user other than root.',
      );
    },
  };
  const createServerCheck = (name: string): HealthCheck => ({
    id: `tool-server:${name}`,
    title: `MCP server ${name}`,
    async run() {
      const state = (await (pendingServers ??= loadServers())).find((server) => server.name === name);
      return state ? toFinding(state, config.settings.tools.mcpServers?.[name]?.enabled === false) : null;
    },
  });
  return [exec, ...Object.keys(config.settings.tools.mcpServers ?? {}).map(createServerCheck)];
}

function toFinding({ state, error = '', tools, changed, problems, wants }: McpServerState, switchedOff: boolean): Finding | null {
  const reason = error === '' ? '.' : `: ${error.replace(/\.$/, '')}.`;
  switch (state) {
    case 'off':
      // Otherwise another host runs it.
      return switchedOff ? reportProblem('info', 'Off.') : null;
    case 'waiting':
      return reportProblem('warning', 'Not started: its command is waiting for approval.', APPROVE_HINT);
    case 'unauthorized':
      return reportProblem('warning', 'Not connected: it needs authorization.', AUTHORIZE_HINT);
    case 'failed':
      return reportProblem('error', `Failed${reason}`, LOGS_HINT);
    case 'starting':
      return reportProblem('info', 'Starting…');
    case 'ready':
  }
  if (changed.length > 0) {
    const names = changed.map(({ tool }) => tool).join(', ');
    return reportProblem('warning', `These tools are off because their descriptions changed: ${names}.`, APPROVE_HINT);
  }
  if (wants !== undefined) return reportProblem('warning', `It needs more permissions: ${wants}.`, AUTHORIZE_HINT);
  if (problems.length > 0) return reportProblem('info', `Connected, but its tool list has problems: ${problems.join('; ')}.`);
  return reportOk(`Connected, with ${tools} tool${tools === 1 ? '' : 's'}.`);
}
