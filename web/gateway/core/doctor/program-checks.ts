import { execPort } from '#shared/ports/exec.ts';
import { systemPort } from '#shared/ports/system.ts';
import type { McpServerState } from '#shared/rpc/methods/mcp.ts';
import { type Check, type DoctorDeps, fine, type Finding, wrong } from './deps.ts';

const AUTHORIZE =
  'Permit it on the page Tools, or open the link that `mcp.authorize`, or `npm run -s perch -- mcp authorize` with its name behind, gives on the bridge’s machine.';
const APPROVE =
  'Approve it on the page Tools (`mcp.approve`, with the hash that `mcp.list` shows), or remove the server there (`config.set` with null).';
const LOOK = 'Look on the page Tools into what it wrote (`mcp.logs`), and start it anew (`mcp.restart`).';

/** What runs for agents: commands, and tool servers. */
export function programChecks({ bridge, config, mcp }: DoctorDeps): Check[] {
  let looked: ReturnType<typeof servers> | undefined;
  const servers = async (): Promise<McpServerState[]> => {
    const all = await mcp();
    await all.look();
    return all.list().servers;
  };
  const exec: Check = {
    id: 'exec',
    title: 'Commands of agents',
    async look(signal) {
      if (!bridge.lends(execPort) || !bridge.lends(systemPort)) return null;
      const { user } = await bridge.call(systemPort, 'system.faults', {}, { signal });
      if (!user.root) return fine(`Commands run as ${user.name}, with the rights of that user.`);
      return wrong(
        'warning',
        `Commands and tool servers run as ${user.name}, who may do everything on the bridge’s machine.`,
        'Run `npm start` as another user than root.',
      );
    },
  };
  const checkOf = (name: string): Check => ({
    id: `tool-server:${name}`,
    title: `The tool server ${name}`,
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
      // Otherwise another host has it.
      return switchedOff ? wrong('info', 'It is switched off.') : null;
    case 'waiting':
      return wrong('warning', 'It is not started: its command waits for a person’s approval.', APPROVE);
    case 'unauthorized':
      return wrong('warning', 'It is not connected: it wants a person’s permission.', AUTHORIZE);
    case 'failed':
      return wrong('error', `It does not work${why}`, LOOK);
    case 'starting':
      return wrong('info', 'It is being started.');
    case 'ready':
  }
  if (changed.length > 0) {
    const names = changed.map(({ tool }) => tool).join(', ');
    return wrong('warning', `Tools that say something else of themselves than before are off: ${names}.`, APPROVE);
  }
  if (wants !== undefined) return wrong('warning', `It wants more permission than it was given: ${wants}.`, AUTHORIZE);
  if (problems.length > 0) return wrong('info', `It is connected; something is wrong with its list of tools: ${problems.join('; ')}.`);
  return fine(`It is connected, with ${tools} tool${tools === 1 ? '' : 's'}.`);
}
