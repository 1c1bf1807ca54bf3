import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { runProgram } from '../system/run-program.ts';

const PORTAL_NAME = 'org.freedesktop.portal.Desktop';
const CALL_MS = 10_000;

/** Captures the whole desktop as PNG through the XDG portal, as required by Wayland. The desktop may ask its user first. */
export async function captureByPortal(): Promise<Buffer> {
  // The response is a D-Bus signal, so start listening before the request.
  const monitor = spawn('gdbus', ['monitor', '--session', '--dest', PORTAL_NAME], { stdio: ['ignore', 'pipe', 'ignore'] });
  const receivedLines: string[] = [];
  let onLine = (): void => {};
  const lines = createInterface({ input: monitor.stdout }).on('line', (line) => {
    receivedLines.push(line);
    onLine();
  });
  const failed = new Promise<never>((_, fail) => {
    monitor.once('error', () => fail(new RpcError('INTERNAL_ERROR', 'Screenshots on Wayland require the program gdbus (part of GLib)')));
    lines.once('close', () =>
      fail(new RpcError('INTERNAL_ERROR', 'No session bus found: the bridge is not running in the desktop session')),
    );
  });
  failed.catch(() => {});
  const awaitLine = async (fits: (line: string) => boolean): Promise<string> => {
    for (;;) {
      const found = receivedLines.find(fits);
      if (found !== undefined) return found;
      await Promise.race([new Promise<void>((resolve) => (onLine = resolve)), failed]);
    }
  };
  try {
    await awaitLine((text) => text.startsWith('Monitoring signals') || text.startsWith('The name'));
    const method = 'org.freedesktop.portal.Screenshot.Screenshot';
    const args = ['call', '--session', '--dest', PORTAL_NAME, '--object-path', '/org/freedesktop/portal/desktop', '--method', method];
    const { stdout, stderr, code } = await runProgram('gdbus', [...args, '', "{'interactive': <false>}"], { timeout: CALL_MS });
    const [, request] = /'(\/org\/freedesktop\/portal\/desktop\/request\/[\w/]+)'/.exec(stdout) ?? [];
    if (code !== 0 || request === undefined)
      throw new RpcError(
        'INTERNAL_ERROR',
        `The desktop refused the screenshot: ${stderr.trim().split('\n')[0] || 'its portal didn’t respond'}`,
      );
    return await readPicture(await awaitLine((text) => text.startsWith(`${request}: org.freedesktop.portal.Request.Response`)));
  } finally {
    monitor.kill();
  }
}

async function readPicture(answer: string): Promise<Buffer> {
  const [, status, results = ''] = /Response \(uint32 (\d+), (.*)\)$/.exec(answer) ?? [];
  if (status !== '0') throw new RpcError('INTERNAL_ERROR', 'The screenshot was declined on the desktop');
  const [, uri = ''] = /'uri': <'(file:[^']+)'>/.exec(results) ?? [];
  const path = fileURLToPath(uri);
  try {
    return await readFile(path);
  } finally {
    // Delete the picture, which was created for this request in the user's pictures folder.
    await rm(path, { force: true });
  }
}
