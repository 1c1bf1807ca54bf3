import { execPort } from '#shared/ports/exec-port.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { ExecRecord } from '../../storage/vault-interface.ts';
import type { OutputName } from './command-output.ts';

/** Fields that the run of a command adds to its request. */
export type CommandOutcome = Pick<ExecRecord, 'status' | 'exitCode' | 'truncated' | 'reason'>;

/** Runs an approved command at the bridge, which refuses it if it differs from what was approved. */
export async function executeCommand(
  bridge: Bridge,
  { command, args, workingDir, hash }: ExecRecord,
  timeoutMs: number,
  signal: AbortSignal,
  onoutput: (stream: OutputName, text: string) => void,
): Promise<CommandOutcome> {
  const params = { command, args, workingDir, hash, timeoutMs };
  const listeners = { 'exec.output': ({ stream, text }: { stream: OutputName; text: string }) => onoutput(stream, text) };
  const result = await bridge.call(execPort, 'exec.run', params, { signal, on: listeners });
  let reason: string | undefined;
  if (result.timedOut) reason = `Timed out after ${Math.round(timeoutMs / 1000)} s`;
  else if (result.signal !== null) reason = `Ended by ${result.signal}`;
  return {
    status: result.exitCode === 0 && !result.timedOut ? 'completed' : 'failed',
    exitCode: result.exitCode,
    ...(reason === undefined ? {} : { reason }),
    ...(result.truncated ? { truncated: true } : {}),
  };
}
