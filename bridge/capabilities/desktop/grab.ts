// A separate short-lived program that captures the screen, so that a crash of native code only affects this process.
import type { Monitor, Window } from 'node-screenshots';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { DesktopPicture, DesktopWindows } from '#shared/rpc/methods/desktop-contracts.ts';
import { type CaptureRequest, captureRequest } from './capture-messages.ts';
import { encodePngWithin } from './png.ts';
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../system/run-program.ts';

const PORTAL_NAME = 'org.freedesktop.portal.Desktop';

const CALL_MS = 10_000;

/** Maximum bytes of a picture, the same as in a message. */
const MAX_IMAGE_BYTES = 6 * 1024 * 1024;

const { env, platform } = process;
const isWayland = platform === 'linux' && !!env['WAYLAND_DISPLAY'] && (env['XDG_SESSION_TYPE'] === 'wayland' || !env['DISPLAY']);

async function loadScreenshots(): Promise<typeof import('node-screenshots')> {
  if (platform === 'linux' && !env['DISPLAY'])
    throw new RpcError('INTERNAL_ERROR', 'No screen found: neither DISPLAY nor WAYLAND_DISPLAY is set for Perch');
  return import('node-screenshots').catch((error: unknown) => {
    const message = 'The optional package node-screenshots is not installed or not available for this system';
    throw new RpcError('INTERNAL_ERROR', message, {}, { cause: error });
  });
}

async function listMonitors(): Promise<Monitor[]> {
  const { Monitor: Monitors } = await loadScreenshots();
  const found = Monitors.all();
  if (found.length === 0) throw new RpcError('INTERNAL_ERROR', 'No screen found');
  return found;
}

async function listWindows(): Promise<Window[]> {
  if (isWayland) throw new RpcError('INVALID_PARAMS', 'On Wayland, only the whole desktop can be captured');
  const { Window: Windows } = await loadScreenshots();
  try {
    return Windows.all().filter((window) => !window.isMinimized() && window.width() > 0 && window.height() > 0);
  } catch (error) {
    // X11 without a window manager provides no list of windows.
    if (error instanceof Error && error.message.includes('_NET_CLIENT_LIST_STACKING')) return [];
    throw error;
  }
}

async function captureImage({ display, windowId }: Extract<CaptureRequest, { what: 'picture' }>): Promise<DesktopPicture> {
  if (windowId !== undefined) {
    const window = (await listWindows()).find((each) => String(each.id()) === windowId);
    if (!window) throw new RpcError('INVALID_PARAMS', `windowId: no window ${windowId}. List windows with desktop.windows.`);
    return captureSource(window);
  }
  if (isWayland) {
    const png = await captureByPortal();
    if (png.length > MAX_IMAGE_BYTES)
      throw new RpcError('INTERNAL_ERROR', `The screenshot has ${(png.length / 1024 / 1024).toFixed(1)} MB. The limit is 6 MB.`);
    return toPicture({ png, width: png.readUInt32BE(16), height: png.readUInt32BE(20) });
  }
  const all = await listMonitors();
  const monitor = display === undefined ? (all.find((each) => each.isPrimary()) ?? all[0]) : all[display - 1];
  if (!monitor) throw new RpcError('INVALID_PARAMS', `display: no display ${display} (${all.length} available)`);
  return captureSource(monitor);
}

function captureSource(source: Monitor | Window): DesktopPicture {
  const image = source.captureImageSync();
  return toPicture(encodePngWithin({ width: image.width, height: image.height, data: image.toRawSync() }, MAX_IMAGE_BYTES));
}

const toPicture = ({ png, width, height }: { png: Buffer; width: number; height: number }): DesktopPicture => ({
  screenshotB64: png.toString('base64'),
  mimeType: 'image/png',
  sizeBytes: png.length,
  width,
  height,
});

async function listSources(): Promise<DesktopWindows> {
  const displays = isWayland ? [] : await listMonitors();
  const open = isWayland ? [] : await listWindows();
  return {
    displays: displays.map((each, index) => ({
      display: index + 1,
      name: each.name(),
      width: each.width(),
      height: each.height(),
      main: each.isPrimary(),
    })),
    windows: open.map((each) => ({
      windowId: String(each.id()),
      title: each.title(),
      app: each.appName(),
      width: each.width(),
      height: each.height(),
    })),
  };
}

async function handleRequest(request: CaptureRequest): Promise<object> {
  if (request.what === 'picture') return { picture: await captureImage(request) };
  if (request.what === 'windows') return { windows: await listSources() };
  if (!isWayland) await listMonitors();
  return { problem: null };
}

const response = await handleRequest(captureRequest.parse(JSON.parse(process.argv[2] ?? ''))).catch((error: unknown) => {
  const { code, message } =
    error instanceof RpcError ? error : { code: 'INTERNAL_ERROR', message: `Couldn’t take a screenshot: ${String(error)}` };
  return { error: { code, message } };
});
process.stdout.write(JSON.stringify(response), () => process.exit());

/** Captures the whole desktop as PNG through the XDG portal, as required by Wayland. The desktop may ask its user first. */
async function captureByPortal(): Promise<Buffer> {
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
