import type { ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { afterAll, expect, test, vi } from 'vitest';
import { desktopPort } from '#shared/ports/desktop-port.ts';
import { verifies } from '../../../tests/requirements.ts';
import { FakeBridge, createCapability } from '../../../tests/support/fake-bridge.ts';
import { hasXvfb, startScreen } from '../../../tests/support/virtual-screen.ts';
import { ProcessKeeper } from '../../processes/process-keeper.ts';
import { createDesktopHandlers } from './desktop-handlers.ts';
import { encodePngWithin, encodePng } from './png.ts';

const dir = mkdtempSync(join(tmpdir(), 'perch-desktop-'));
const started: ChildProcess[] = [];
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});

const createBridge = (env: NodeJS.ProcessEnv): FakeBridge =>
  new FakeBridge(
    createCapability(
      desktopPort,
      createDesktopHandlers({ keeper: new ProcessKeeper(() => {}), env: { PATH: process.env['PATH'], ...env } }),
    ),
  );

/** Pixels of a PNG written by `encodePng`: red, green and blue of each. */
function decodePng(png: Buffer): number[][] {
  const width = png.readUInt32BE(16);
  const rows = inflateSync(png.subarray(41, 41 + png.readUInt32BE(33)));
  const out: number[][] = [];
  for (let at = 0; at < rows.length; at += 1 + width * 3) {
    let left = [0, 0, 0];
    for (let x = 0; x < width; x++) out.push((left = left.map((value, c) => (value + (rows[at + 1 + x * 3 + c] ?? 0)) & 255)));
  }
  return out;
}

if (!hasXvfb) test.skip('desktop/screenshot: Xvfb is not installed here', () => {});
else
  verifies('desktop/screenshot', 'under Xvfb: captures a display, lists displays, and refuses an unknown one', async () => {
    const { display: DISPLAY, process: xvfb } = await startScreen();
    started.push(xvfb);
    const bridge = createBridge({ DISPLAY });
    expect(await bridge.call(desktopPort, 'desktop.check', {})).toEqual({ problem: null });
    const { displays, windows } = await bridge.call(desktopPort, 'desktop.windows', {});
    expect(displays).toEqual([{ display: 1, name: expect.any(String), width: 320, height: 200, main: expect.any(Boolean) }]);
    expect(windows).toEqual([]);
    for (const part of [{}, { display: 1 }]) {
      const { screenshotB64, ...about } = await bridge.call(desktopPort, 'desktop.screenshot', part);
      const png = Buffer.from(screenshotB64, 'base64');
      expect(about).toEqual({ mimeType: 'image/png', sizeBytes: png.length, width: 320, height: 200 });
      const pixels = decodePng(png);
      expect(pixels).toHaveLength(320 * 200);
      expect(new Set(pixels.map(String))).toEqual(new Set(['255,255,255']));
    }
    for (const part of [{ display: 2 }, { windowId: '1' }])
      await expect(bridge.call(desktopPort, 'desktop.screenshot', part)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });

verifies('desktop/none', 'no screen, and a screen that does not respond', async () => {
  for (const [env, reason] of [
    [{}, 'neither DISPLAY nor WAYLAND_DISPLAY is set'],
    [{ DISPLAY: ':65000' }, 'Couldn’t take a screenshot'],
  ] as const) {
    const bridge = createBridge(env);
    await expect(bridge.call(desktopPort, 'desktop.screenshot', {})).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringContaining(reason),
    });
    expect((await bridge.call(desktopPort, 'desktop.check', {})).problem).toContain(reason);
  }
});

const REQUEST = '/org/freedesktop/portal/desktop/request/1_42/t';
/** Acts as gdbus for a desktop's portal; `answer` is its response once it was asked. */
function startPortal(answer: string): NodeJS.ProcessEnv {
  const bin = mkdtempSync(join(dir, 'bin-'));
  const callsFile = join(bin, 'asked');
  writeFileSync(
    join(bin, 'gdbus'),
    `#!/bin/sh
if [ "$1" = call ]; then touch '${callsFile}'; echo "(objectpath '${REQUEST}',)"; exit; fi
echo $$ > '${join(bin, 'pid')}'
echo 'Monitoring signals from all objects owned by org.freedesktop.portal.Desktop'
echo 'The name org.freedesktop.portal.Desktop is owned by :1.7'
while [ ! -e '${callsFile}' ]; do sleep 0.05; done
cat <<'.'
/org/freedesktop/portal/desktop/request/1_41/t: org.freedesktop.portal.Request.Response (uint32 2, {})
${answer}
.
exec sleep 60
`,
  );
  chmodSync(join(bin, 'gdbus'), 0o755);
  return { PATH: `${bin}:${process.env['PATH'] ?? ''}`, WAYLAND_DISPLAY: 'wayland-0', XDG_SESSION_TYPE: 'wayland', BIN: bin };
}
const response = (rest: string): string => `${REQUEST}: org.freedesktop.portal.Request.Response (${rest})`;

verifies('desktop/wayland', 'under Wayland the desktop portal is called through gdbus', async () => {
  const png = encodePng({ width: 2, height: 1, data: new Uint8Array(8) });
  const file = join(dir, 'Screen shot.png');
  writeFileSync(file, png);
  const bridge = createBridge(startPortal(response(`uint32 0, {'uri': <'file://${file.replace(' ', '%20')}'>}`)));
  expect(await bridge.call(desktopPort, 'desktop.screenshot', {})).toEqual({
    screenshotB64: png.toString('base64'),
    mimeType: 'image/png',
    sizeBytes: png.length,
    width: 2,
    height: 1,
  });
  // The temporary file was created for this request.
  expect(existsSync(file)).toBe(false);
  await expect(bridge.call(desktopPort, 'desktop.screenshot', { windowId: '1' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(createBridge(startPortal(response('uint32 1, {}'))).call(desktopPort, 'desktop.screenshot', {})).rejects.toMatchObject({
    message: 'The screenshot was declined on the desktop',
  });
});

verifies('desktop/gone', 'a caller that does not wait leaves nothing running', async () => {
  const env = startPortal('');
  const pid = (): number => Number(readFileSync(join(env['BIN'] ?? '', 'pid'), 'utf8'));
  const enough = new AbortController();
  const waiting = createBridge(env).call(desktopPort, 'desktop.screenshot', {}, { signal: enough.signal });
  await vi.waitFor(() => expect(existsSync(join(env['BIN'] ?? '', 'asked'))).toBe(true), 10_000);
  expect(() => process.kill(pid(), 0)).not.toThrow();
  enough.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await vi.waitFor(() => expect(() => process.kill(pid(), 0)).toThrow('ESRCH'), 10_000);
});

verifies('desktop/size', 'a picture with too many bytes is made smaller, by the mean of what was there', () => {
  const pixels = { width: 4, height: 2, data: new Uint8Array(32).map((_, at) => (at % 4 === 3 ? 255 : at < 16 ? 10 : 30)) };
  expect(decodePng(encodePngWithin(pixels, 1000).png)).toHaveLength(8);
  const fullSize = encodePng(pixels).length;
  const { png, width, height } = encodePngWithin(pixels, fullSize - 1);
  expect([width, height]).toEqual([2, 1]);
  expect(decodePng(png)).toEqual([
    [20, 20, 20],
    [20, 20, 20],
  ]);
});
