import { join } from 'node:path';
import type { desktopPort } from '#shared/ports/desktop.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { z } from '#shared/rpc/zod.ts';
import { packageRoot } from '../../package-root.ts';
import { commandEnvironment } from '../../processes/environment.ts';
import type { Keeper } from '../../processes/keep.ts';
import { ProgramCut, runKept } from '../../processes/kept-program.ts';
import type { PortHandlers } from '../../server/serve-port.ts';
import { type Ask, said } from './ask.ts';

/** The screen capture program: the source file, or the one built by bridge/build.ts. */
const PROGRAM = import.meta.filename.endsWith('.ts') ? join(import.meta.dirname, 'grab.ts') : join(packageRoot, 'dist', 'desktop-grab.js');
/** Timeout for a picture; the desktop may ask its user first. */
const PICTURE_MS = 15_000;
/** Maximum bytes of a response, a picture in base64. */
const MAX_ANSWER = 16 * 1024 * 1024;
/** Variables that identify the screen, in addition to those that every command gets. */
const SCREEN = /^(DISPLAY|XAUTHORITY|WAYLAND_DISPLAY|XDG_|DBUS_SESSION_BUS_ADDRESS)/;

export interface DesktopDeps {
  /** Ends the program with the bridge. */
  keeper: Pick<Keeper, 'keep'>;
  env?: NodeJS.ProcessEnv;
}

type Said = z.infer<typeof said>;

/** Handlers for this machine's screen. Starts a process for each picture. */
export function desktopHandlers({
  keeper,
  env = process.env,
}: DesktopDeps): PortHandlers<typeof desktopPort.calls, typeof desktopPort.events> {
  const asked = async <K extends 'picture' | 'windows' | 'problem'>(
    what: Ask,
    key: K,
    signal: AbortSignal,
  ): Promise<Extract<Said, Record<K, unknown>>> => {
    const answer = await grabbed(what, { keeper, env, signal });
    if ('error' in answer) throw new RpcError(answer.error.code, answer.error.message);
    if (!(key in answer)) throw new RpcError('INTERNAL_ERROR', 'The screenshot program sent an unexpected answer');
    return answer as Extract<Said, Record<K, unknown>>;
  };
  return {
    'desktop.screenshot': async (part, { signal }) => (await asked({ what: 'picture', ...part }, 'picture', signal)).picture,
    'desktop.windows': async (_params, { signal }) => (await asked({ what: 'windows' }, 'windows', signal)).windows,
    'desktop.check': async (_params, { signal }) => {
      const answer = await grabbed({ what: 'check' }, { keeper, env, signal });
      return { problem: 'error' in answer ? answer.error.message : null };
    },
  };
}

/** Runs the program until it exits. Throws if it crashes, takes too long or is aborted, after all its processes have ended. */
async function grabbed(what: Ask, { keeper, env, signal }: Required<DesktopDeps> & { signal: AbortSignal }): Promise<Said> {
  const screen = Object.entries(env).filter(([name]) => SCREEN.test(name));
  const { stdout, code } = await runKept([process.execPath, PROGRAM, JSON.stringify(what)], {
    keeper,
    env: { ...commandEnvironment(env), ...Object.fromEntries(screen) },
    timeout: PICTURE_MS,
    maxBuffer: MAX_ANSWER,
    signal,
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    const why = error instanceof ProgramCut ? `it took longer than ${PICTURE_MS / 1000} s` : String(error);
    throw new RpcError('INTERNAL_ERROR', `Couldn’t take a screenshot: ${why}`, {}, { cause: error });
  });
  if (stdout.length === 0) throw new RpcError('INTERNAL_ERROR', `The screenshot program crashed (${code ?? 'killed by a signal'})`);
  return said.parse(JSON.parse(stdout.toString('utf8')));
}
