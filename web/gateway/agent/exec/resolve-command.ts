import { execPort } from '#shared/ports/exec-port.ts';
import type { ContractParams, ContractResult } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { ShellRequiredError, splitWords } from '#shared/split-words.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';

type Contract = (typeof execPort.calls)['exec.resolve'];
type CommandParams = ContractParams<Contract>;

const missingProgram = z.object({ reason: z.literal('missing'), program: z.string() });

/**
 * Resolves a command on the bridge. A command without arguments that is neither a path nor a program is split into words. Returns what
 * would run: this is displayed, hashed and run. Rejects with `INVALID_PARAMS` if only a shell could run it.
 */
export async function resolveCommand(
  bridge: Bridge,
  requested: CommandParams,
  signal: AbortSignal,
): Promise<{ asked: CommandParams; resolved: ContractResult<Contract> }> {
  const resolve = async (params: CommandParams) => ({
    asked: params,
    resolved: await bridge.call(execPort, 'exec.resolve', params, { signal }),
  });
  try {
    return await resolve(requested);
  } catch (error) {
    if (requested.args.length > 0 || !isProgramMissing(error, requested.command)) throw error;
    const [command, ...args] = toWords(requested.command);
    if (command === undefined || command === requested.command) throw error;
    return await resolve({ ...requested, command, args });
  }
}

/** Whether the program itself is missing, not another one that it would run. */
function isProgramMissing(error: unknown, command: string): boolean {
  const details = error instanceof RpcError ? missingProgram.safeParse(error.extra.details) : undefined;
  return details?.success === true && details.data.program === command;
}

function toWords(command: string): string[] {
  try {
    return splitWords(command);
  } catch (error) {
    if (!(error instanceof ShellRequiredError)) throw error;
    throw new RpcError('INVALID_PARAMS', `command: ${error.message}`, {}, { cause: error });
  }
}
