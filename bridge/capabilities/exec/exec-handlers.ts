import { join } from 'node:path';
import { execPort } from '#shared/ports/exec-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { PortHandlers } from '../serve-port.ts';
import { createCommandEnvironment } from '../../processes/command-environment.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import { WORKSPACES_FOLDER } from '../files/workspace-handlers.ts';
import { CopyLauncher, createDryLauncher } from './launcher.ts';
import { PrivateCopies } from './private-copies.ts';
import { prepareCommand } from './prepare-command.ts';
import { runCommand } from './run-command.ts';

interface ExecOptions {
  /** The bridge's home directory. Commands without a working directory run in its `workspace`. */
  home: string;
  /** Ends commands with the bridge. */
  keeper: Pick<ProcessKeeper, 'keep'>;
  env?: NodeJS.ProcessEnv;
}

/**
 * Handlers that run commands on this machine with the bridge's permissions. The core ensures that the user has approved a command; these
 * handlers ensure that exactly the approved command runs.
 */
export function createExecHandlers({
  home,
  keeper,
  env: given = process.env,
}: ExecOptions): PortHandlers<typeof execPort.calls, typeof execPort.events> {
  const env = createCommandEnvironment(given);
  const surroundings = { workspace: join(home, 'workspace'), workspaces: join(home, WORKSPACES_FOLDER), env };
  const copies = new PrivateCopies(join(home, 'running'));
  return {
    'exec.resolve': async (params) => (await prepareCommand(params, surroundings, createDryLauncher(process.platform), copies)).resolved,

    'exec.run': async ({ command, args, workingDir, hash, timeoutMs }, { signal, send }) => {
      await using launcher = new CopyLauncher(copies, await copies.createRunFolder());
      const { resolved, run } = await prepareCommand({ command, args, workingDir }, surroundings, launcher, copies);
      if (resolved.hash !== hash || resolved.workingDir !== workingDir) {
        throw new RpcError(
          'INTERNAL_ERROR',
          `${command} changed after it was approved: its program, script, files, folder or environment is different`,
          { details: { reason: 'changed' } },
        );
      }
      return await runCommand(
        { command: run.argv0, realPath: run.file, args: run.args, workingDir, env, fds: launcher.fds, timeoutMs },
        { signal, keeper, send: (stream, text) => send('exec.output', { stream, text }), onStarted: () => launcher.closeFds() },
      );
    },
  };
}
