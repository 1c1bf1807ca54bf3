import { join } from 'node:path';
import { execPort } from '#shared/ports/exec.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { PortHandlers } from '../../server/serve-port.ts';
import { commandEnvironment } from '../../processes/environment.ts';
import type { Keeper } from '../../processes/keep.ts';
import { resolveCommand } from './resolve.ts';
import { runCommand } from './run.ts';

export interface ExecOptions {
  /** The bridge's directory: commands that name no directory run in its `workspace`. */
  home: string;
  /** Ends commands with the bridge. */
  keeper: Pick<Keeper, 'keep'>;
  env?: NodeJS.ProcessEnv;
}

/** Commands on this machine, with the rights of whoever started the bridge. That a person approved them is the core's to see to; that what runs is what was approved, this one's. */
export function execHandlers({
  home,
  keeper,
  env: given = process.env,
}: ExecOptions): PortHandlers<typeof execPort.calls, typeof execPort.events> {
  const env = commandEnvironment(given);
  const surroundings = { workspace: join(home, 'workspace'), env };
  return {
    'exec.resolve': (asked) => resolveCommand(asked, surroundings),

    'exec.run': async ({ command, args, workingDir, hash, timeoutMs }, { signal, send }) => {
      const resolved = await resolveCommand({ command, args, workingDir }, surroundings);
      if (resolved.hash !== hash || resolved.workingDir !== workingDir) {
        throw new RpcError('INTERNAL_ERROR', `${command} changed after it was approved: its program, folder or environment is different`, {
          details: { reason: 'changed' },
        });
      }
      return runCommand(
        { command, realPath: resolved.realPath, args, workingDir, env, timeoutMs },
        { signal, keeper, send: (stream, text) => send('exec.output', { stream, text }) },
      );
    },
  };
}
