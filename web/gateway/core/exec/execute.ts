import { execPort } from '#shared/ports/exec-port.ts';
import type { Bridge } from '../bridge-interface.ts';
import type { ExecRecord } from '../vault-interface.ts';
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
  const ended = await bridge.call(execPort, 'exec.run', params, { signal, on: listeners });
  let reason: string | undefined;
  if (ended.timedOut) reason = `Timed out after ${Math.round(timeoutMs / 1000)} s`;
  else if (ended.signal !== null) reason = `Ended by ${ended.signal}`;
  return {
    status: ended.exitCode === 0 && !ended.timedOut ? 'completed' : 'failed',
    exitCode: ended.exitCode,
    ...(reason === undefined ? {} : { reason }),
    ...(ended.truncated ? { truncated: true } : {}),
  };
}
