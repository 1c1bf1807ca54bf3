import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** Whether a virtual screen can be created here. */
export const hasXvfb = process.platform === 'linux' && !spawnSync('Xvfb', ['-help']).error;

/** Starts a white virtual screen; `display` is its name for programs. The caller kills the process. */
export async function startScreen(size = '320x200'): Promise<{ display: string; process: ChildProcess }> {
  const xvfb = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', `${size}x24`, '-wr', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [number] = (await once(xvfb.stdio[3] as Readable, 'data')) as [Buffer];
  return { display: `:${number.toString().trim()}`, process: xvfb };
}
