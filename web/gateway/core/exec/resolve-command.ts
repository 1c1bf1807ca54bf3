import { execPort } from '#shared/ports/exec.ts';
import type { ParamsOf, ResultOf } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { NeedsShell, splitWords } from '#shared/split-words.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Bridge } from '../bridge.ts';

type Contract = (typeof execPort.calls)['exec.resolve'];
type Asked = ParamsOf<Contract>;

const missing = z.object({ reason: z.literal('missing'), program: z.string() });

/**
 * Resolves a command on the bridge. A command without arguments that is neither a path nor a program is split into words. Returns what
 * would run: this is displayed, hashed and run. Rejects with `INVALID_PARAMS` if only a shell could run it.
 */
export async function resolveCommand(
  bridge: Bridge,
  asked: Asked,
  signal: AbortSignal,
): Promise<{ asked: Asked; resolved: ResultOf<Contract> }> {
  const resolve = async (wanted: Asked) => ({ asked: wanted, resolved: await bridge.call(execPort, 'exec.resolve', wanted, { signal }) });
  try {
    return await resolve(asked);
  } catch (error) {
    if (asked.args.length > 0 || !isMissing(error, asked.command)) throw error;
    const [command, ...args] = toWords(asked.command);
    if (command === undefined || command === asked.command) throw error;
    return await resolve({ ...asked, command, args });
  }
}

/** Whether the program itself is missing, not another one that it would run. */
function isMissing(error: unknown, command: string): boolean {
  const details = error instanceof RpcError ? missing.safeParse(error.extra.details) : undefined;
  return details?.success === true && details.data.program === command;
}

function toWords(command: string): string[] {
  try {
    return splitWords(command);
  } catch (error) {
    if (!(error instanceof NeedsShell)) throw error;
    throw new RpcError('INVALID_PARAMS', `command: ${error.message}`, {}, { cause: error });
  }
}
