import { join } from 'node:path';
import type { desktopPort } from '#shared/ports/desktop-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { z } from '#shared/rpc/zod.ts';
import { packageRoot } from '../../package-root.ts';
import { createCommandEnvironment } from '../../processes/command-environment.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import { ProgramLimitError, runManagedProgram } from '../../processes/run-managed-program.ts';
import type { PortHandlers } from '../serve-port.ts';
import { type CaptureRequest, captureResponse } from './capture-messages.ts';

/** The screen capture program: the source file, or the one built by bridge/build.ts. */
const PROGRAM = import.meta.filename.endsWith('.ts') ? join(import.meta.dirname, 'grab.ts') : join(packageRoot, 'dist', 'desktop-grab.js');
/** Timeout for a picture; the desktop may ask its user first. */
const CAPTURE_MS = 15_000;
/** Maximum bytes of a response, a picture in base64. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
/** Variables that identify the screen, in addition to those that every command gets. */
const SCREEN_VARIABLES = /^(DISPLAY|XAUTHORITY|WAYLAND_DISPLAY|XDG_|DBUS_SESSION_BUS_ADDRESS)/;

interface DesktopDeps {
  /** Ends the program with the bridge. */
  keeper: Pick<ProcessKeeper, 'keep'>;
  env?: NodeJS.ProcessEnv;
}

type CaptureResponse = z.infer<typeof captureResponse>;

/** Handlers for this machine's screen. Starts a process for each picture. */
export function createDesktopHandlers({
  keeper,
  env = process.env,
}: DesktopDeps): PortHandlers<typeof desktopPort.calls, typeof desktopPort.events> {
  const capture = async <K extends 'picture' | 'windows' | 'problem'>(
    request: CaptureRequest,
    key: K,
    signal: AbortSignal,
  ): Promise<Extract<CaptureResponse, Record<K, unknown>>> => {
    const answer = await runCapture(request, { keeper, env, signal });
    if ('error' in answer) throw new RpcError(answer.error.code, answer.error.message);
    if (!(key in answer)) throw new RpcError('INTERNAL_ERROR', 'The screenshot program sent an unexpected answer');
    return answer as Extract<CaptureResponse, Record<K, unknown>>;
  };
  return {
    'desktop.screenshot': async (part, { signal }) => (await capture({ what: 'picture', ...part }, 'picture', signal)).picture,
    'desktop.windows': async (_params, { signal }) => (await capture({ what: 'windows' }, 'windows', signal)).windows,
    'desktop.check': async (_params, { signal }) => {
      const answer = await runCapture({ what: 'check' }, { keeper, env, signal });
      return { problem: 'error' in answer ? answer.error.message : null };
    },
  };
}

/** Runs the program until it exits. Throws if it crashes, takes too long or is aborted, after all its processes have ended. */
async function runCapture(
  request: CaptureRequest,
  { keeper, env, signal }: Required<DesktopDeps> & { signal: AbortSignal },
): Promise<CaptureResponse> {
  const screen = Object.entries(env).filter(([name]) => SCREEN_VARIABLES.test(name));
  const { stdout, code } = await runManagedProgram([process.execPath, PROGRAM, JSON.stringify(request)], {
    keeper,
    env: { ...createCommandEnvironment(env), ...Object.fromEntries(screen) },
    timeout: CAPTURE_MS,
    maxBuffer: MAX_RESPONSE_BYTES,
    signal,
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    const reason = error instanceof ProgramLimitError ? `it took longer than ${CAPTURE_MS / 1000} s` : String(error);
    throw new RpcError('INTERNAL_ERROR', `Couldn’t take a screenshot: ${reason}`, {}, { cause: error });
  });
  if (stdout.length === 0) throw new RpcError('INTERNAL_ERROR', `The screenshot program crashed (${code ?? 'killed by a signal'})`);
  return captureResponse.parse(JSON.parse(stdout.toString('utf8')));
}
