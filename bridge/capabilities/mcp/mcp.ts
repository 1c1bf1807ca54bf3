import { join } from 'node:path';
import { type mcpPort, MAX_UNREAD_BYTES, type ToolServerCommand } from '#shared/ports/mcp.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { commandEnvironment } from '../../processes/environment.ts';
import type { Keeper } from '../../processes/keep.ts';
import type { PortHandlers } from '../../server/serve-port.ts';
import type { Launcher } from '../exec/expand.ts';
import { CopyLauncher, dryLauncher } from '../exec/launcher.ts';
import { PrivateCopies } from '../exec/private-copies.ts';
import { findCommand, type Prepared, prepareCommand } from '../exec/resolve.ts';
import { WORKSPACES_FOLDER } from '../files/files.ts';
import { ApprovedCommands, codeBoundHash, commandHash } from './approved.ts';
import { ServerProcess } from './server-process.ts';

export interface McpOptions {
  /** The bridge's home directory. Servers without a working directory run in its `workspace`, like commands. */
  home: string;
  /** Ends servers with the bridge. */
  keeper: Pick<Keeper, 'keep'>;
  env?: NodeJS.ProcessEnv;
}

interface PreparedServer extends Pick<Prepared, 'run'> {
  /** Hash that an approval covers. */
  hash: string;
  workingDir: string;
}

/** Handlers that run MCP servers on this machine with the bridge's permissions. A server only starts if its exact command is approved. */
export function mcpHandlers({
  home,
  keeper,
  env: given = process.env,
}: McpOptions): PortHandlers<typeof mcpPort.calls, typeof mcpPort.events> {
  const approved = new ApprovedCommands(home);
  const running = new Map<string, ServerProcess>();
  const environmentOf = ({ env }: ToolServerCommand): Record<string, string> => ({ ...commandEnvironment(given), ...env });
  const copies = new PrivateCopies(join(home, 'running'));
  /**
   * Prepares a server. Without a launcher nothing is copied. An interpreter that opens its script itself runs as named, and the approval
   * does not cover the script.
   */
  const prepare = async (server: ToolServerCommand, launcher: Launcher = dryLauncher(process.platform)): Promise<PreparedServer> => {
    const surroundings = { workspace: join(home, 'workspace'), workspaces: join(home, WORKSPACES_FOLDER), env: environmentOf(server) };
    const asked = { command: server.command, args: server.args, workingDir: server.cwd };
    const { realPath, workingDir } = await findCommand(asked, surroundings);
    const named = { file: realPath, argv0: server.command, args: server.args };
    const hash = commandHash(server);
    try {
      const { codeHash, run } = await prepareCommand(asked, surroundings, launcher, copies);
      return { hash: codeBoundHash(hash, codeHash), workingDir, run };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return { hash: codeBoundHash(hash, await copies.hash(realPath).catch(() => 'unreadable')), workingDir, run: named };
    }
  };
  /** An older build's approval did not cover the bytes: it is bound to the current ones once, and stays marked. */
  const checkApproval = async (server: ToolServerCommand, hash: string): Promise<{ approved: boolean; isApprovalBound?: true }> => {
    const known = await approved.find(hash);
    if (!known && !(await approved.replaceEarlier(commandHash(server), hash))) return { approved: false };
    return { approved: true, ...(known && known.isEarlier !== true ? {} : { isApprovalBound: true }) };
  };
  const found = (run: string): ServerProcess => {
    const server = running.get(run);
    if (!server) throw new RpcError('NOT_FOUND', 'The MCP server is no longer running');
    return server;
  };
  return {
    'mcp.check': async (server) => {
      const { hash, workingDir } = await prepare(server);
      return { hash, ...(await checkApproval(server, hash)), workingDir };
    },

    'mcp.approve': async ({ hash }) => {
      await approved.add(hash);
      return {};
    },

    'mcp.run': async ({ run, ...server }, { signal, send }) => {
      await using launcher = new CopyLauncher(copies, await copies.open());
      const { hash, workingDir, run: program } = await prepare(server, launcher);
      if (!(await checkApproval(server, hash)).approved) {
        throw new RpcError('AUTH_REQUIRED', `${server.command} can’t be started: the command, its program or its script is not approved`);
      }
      if (running.has(run)) throw new RpcError('INVALID_PARAMS', 'run: this ID is already in use');
      signal.throwIfAborted();
      const child = new ServerProcess(
        {
          ...{ command: program.argv0, realPath: program.file, args: program.args },
          ...{ workingDir, env: environmentOf(server), fds: launcher.fds },
        },
        keeper,
      );
      running.set(run, child);
      try {
        return await child.run(signal, {
          began(pid) {
            launcher.closeFds();
            send('mcp.began', { pid });
          },
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
