import { join } from 'node:path';
import { type mcpPort, MAX_UNREAD_BYTES, type ToolServerCommand } from '#shared/ports/mcp.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { commandEnvironment } from '../../processes/environment.ts';
import type { Keeper } from '../../processes/keep.ts';
import type { PortHandlers } from '../../server/serve-port.ts';
import { findCommand } from '../exec/resolve.ts';
import { ApprovedCommands, commandHash } from './approved.ts';
import { ServerProcess } from './server-process.ts';

export interface McpOptions {
  /** The bridge's directory: servers that name no directory run in its `workspace`, as commands do. */
  home: string;
  /** Ends servers with the bridge. */
  keeper: Pick<Keeper, 'keep'>;
  env?: NodeJS.ProcessEnv;
}

/** Tool servers on this machine, with the rights of whoever started the bridge. It starts none whose exact command is not approved. */
export function mcpHandlers({
  home,
  keeper,
  env: given = process.env,
}: McpOptions): PortHandlers<typeof mcpPort.calls, typeof mcpPort.events> {
  const approved = new ApprovedCommands(home);
  const running = new Map<string, ServerProcess>();
  const environmentOf = ({ env }: ToolServerCommand): Record<string, string> => ({ ...commandEnvironment(given), ...env });
  const find = (server: ToolServerCommand): Promise<{ realPath: string; workingDir: string }> =>
    findCommand({ command: server.command, workingDir: server.cwd }, { workspace: join(home, 'workspace'), env: environmentOf(server) });
  const found = (run: string): ServerProcess => {
    const server = running.get(run);
    if (!server) throw new RpcError('NOT_FOUND', 'The MCP server is no longer running');
    return server;
  };
  return {
    'mcp.check': async (server) => {
      const { workingDir } = await find(server);
      const hash = commandHash(server);
      return { hash, approved: await approved.has(hash), workingDir };
    },

    'mcp.approve': async ({ hash }) => {
      await approved.add(hash);
      return {};
    },

    'mcp.run': async ({ run, ...server }, { signal, send }) => {
      if (!(await approved.has(commandHash(server)))) {
        throw new RpcError('AUTH_REQUIRED', `${server.command} can’t be started: the command is not approved`);
      }
      if (running.has(run)) throw new RpcError('INVALID_PARAMS', 'run: this ID is already in use');
      const place = await find(server);
      signal.throwIfAborted();
      const child = new ServerProcess({ ...place, command: server.command, args: server.args, env: environmentOf(server) }, keeper);
      running.set(run, child);
      try {
        return await child.run(signal, {
          began: (pid) => send('mcp.began', { pid }),
          lines: (lines, bytes) => send('mcp.lines', { lines, bytes }),
        });
      } finally {
        running.delete(run);
      }
    },

    'mcp.write': async ({ run, text }) => {
      const server = found(run);
      if (server.unread > MAX_UNREAD_BYTES) throw new RpcError('INTERNAL_ERROR', 'The MCP server isn’t reading its input');
      await server.write(text);
      return {};
    },

    'mcp.taken': async ({ run, bytes }) => {
      running.get(run)?.taken(bytes);
      return {};
    },

    'mcp.stderr': async ({ run }) => ({ text: found(run).stderr }),
  };
}
