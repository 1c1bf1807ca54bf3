import { join } from 'node:path';
import { type mcpPort, MAX_UNREAD_BYTES, type McpServerCommand } from '#shared/ports/mcp-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { createCommandEnvironment } from '../../processes/command-environment.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import type { PortHandlers } from '../serve-port.ts';
import type { Launcher } from '../exec/expand-command.ts';
import { CopyLauncher, createDryLauncher } from '../exec/launcher.ts';
import { PrivateCopies } from '../exec/private-copies.ts';
import { findCommand, type PreparedCommand, prepareCommand } from '../exec/prepare-command.ts';
import { WORKSPACES_FOLDER } from '../files/workspace-handlers.ts';
import { ApprovedCommands, computeCodeBoundHash, computeCommandHash } from './approved-commands.ts';
import { ServerProcess } from './server-process.ts';

interface McpHandlersOptions {
  /** The bridge's home directory. Servers without a working directory run in its `workspace`, like commands. */
  home: string;
  /** Ends servers with the bridge. */
  keeper: Pick<ProcessKeeper, 'keep'>;
  env?: NodeJS.ProcessEnv;
}

interface PreparedServer extends Pick<PreparedCommand, 'run'> {
  /** Hash that an approval covers. */
  hash: string;
  workingDir: string;
}

/** Handlers that run MCP servers on this machine with the bridge's permissions. A server only starts if its exact command is approved. */
export function createMcpHandlers({
  home,
  keeper,
  env: given = process.env,
}: McpHandlersOptions): PortHandlers<typeof mcpPort.calls, typeof mcpPort.events> {
  const approved = new ApprovedCommands(home);
  const running = new Map<string, ServerProcess>();
  const toEnvironment = ({ env }: McpServerCommand): Record<string, string> => ({ ...createCommandEnvironment(given), ...env });
  const copies = new PrivateCopies(join(home, 'running'));
  /**
   * Prepares a server. Without a launcher nothing is copied. An interpreter that opens its script itself runs as named, and the approval
   * does not cover the script.
   */
  const prepare = async (server: McpServerCommand, launcher: Launcher = createDryLauncher(process.platform)): Promise<PreparedServer> => {
    const commandContext = { workspace: join(home, 'workspace'), workspaces: join(home, WORKSPACES_FOLDER), env: toEnvironment(server) };
    const commandRequest = { command: server.command, args: server.args, workingDir: server.cwd };
    const { realPath, workingDir } = await findCommand(commandRequest, commandContext);
    const namedCommand = { file: realPath, argv0: server.command, args: server.args };
    const hash = computeCommandHash(server);
    try {
      const { codeHash, run } = await prepareCommand(commandRequest, commandContext, launcher, copies);
      return { hash: computeCodeBoundHash(hash, codeHash), workingDir, run };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return { hash: computeCodeBoundHash(hash, await copies.getHash(realPath).catch(() => 'unreadable')), workingDir, run: namedCommand };
    }
  };
  /** An older build's approval did not cover the bytes: it is bound to the current ones once, and stays marked. */
  const checkApproval = async (server: McpServerCommand, hash: string): Promise<{ approved: boolean; isApprovalBound?: true }> => {
    const approval = await approved.find(hash);
    if (!approval && !(await approved.replaceEarlier(computeCommandHash(server), hash))) return { approved: false };
    return { approved: true, ...(approval && approval.isEarlier !== true ? {} : { isApprovalBound: true }) };
  };
  const requireServer = (run: string): ServerProcess => {
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
      await using launcher = new CopyLauncher(copies, await copies.createRunFolder());
      const { hash, workingDir, run: program } = await prepare(server, launcher);
      if (!(await checkApproval(server, hash)).approved) {
        throw new RpcError('AUTH_REQUIRED', `${server.command} can’t be started: the command, its program or its script is not approved`);
      }
      if (running.has(run)) throw new RpcError('INVALID_PARAMS', 'run: this ID is already in use');
      signal.throwIfAborted();
      const child = new ServerProcess(
        {
          ...{ command: program.argv0, realPath: program.file, args: program.args },
          ...{ workingDir, env: toEnvironment(server), fds: launcher.fds },
        },
        keeper,
      );
      running.set(run, child);
      try {
        return await child.run(signal, {
          onStarted(pid) {
            launcher.closeFds();
            send('mcp.began', { pid });
          },
          onLines: (lines, bytes) => send('mcp.lines', { lines, bytes }),
        });
      } finally {
        running.delete(run);
      }
    },

    'mcp.write': async ({ run, text }) => {
      const server = requireServer(run);
      if (server.unread > MAX_UNREAD_BYTES) throw new RpcError('INTERNAL_ERROR', 'The MCP server isn’t reading its input');
      await server.write(text);
      return {};
    },

    'mcp.taken': async ({ run, bytes }) => {
      running.get(run)?.acknowledge(bytes);
      return {};
    },

    'mcp.stderr': async ({ run }) => ({ text: requireServer(run).stderr }),
  };
}
