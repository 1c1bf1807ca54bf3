import { fromBase64 } from '#shared/base64.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';

const fromBase64Png = (base64: string): Blob => new Blob([fromBase64(base64)], { type: 'image/png' });

/** Captures the main display of the bridge's machine. Rejects with an RpcError if it has none. */
export async function captureDesktop(): Promise<Blob> {
  return fromBase64Png((await gateway.call('desktop.screenshot', {})).screenshotB64);
}

/** Takes a screenshot of the driven browser. */
export async function captureDrivenBrowser(profile = 'default'): Promise<Blob> {
  return fromBase64Png((await gateway.call('browser.screenshot', { profile })).screenshotB64);
}

/** Whether this browser can show a window or screen to a page. */
export const canShareScreen = (): boolean => typeof navigator.mediaDevices?.getDisplayMedia === 'function';

/** Whether there may be a camera. */
export const canUseCamera = (): boolean => typeof navigator.mediaDevices?.getUserMedia === 'function';

/**
 * Captures a tab, window or screen that the person chooses. Null if they cancel.
 * Rejects with an Error for the person if the browser cannot capture it.
 */
export async function captureSharedScreen(): Promise<Blob | null> {
  let stream: MediaStream;
  try {
    stream = await navigator.mediaDevices.getDisplayMedia({ video: true, audio: false });
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    if (error.name === 'NotAllowedError') return null;
    throw new Error(m.annotate_screen_unsupported(), { cause: error });
  }
  const video = document.createElement('video');
  try {
    video.muted = true;
    video.srcObject = stream;
    await video.play();
    return await captureFrame(video);
  } finally {
    video.srcObject = null;
    for (const track of stream.getTracks()) track.stop();
  }
}

/** Captures the current frame of a video as a PNG. */
export async function captureFrame(video: HTMLVideoElement): Promise<Blob> {
  const { videoWidth: width, videoHeight: height } = video;
  const canvas = new OffscreenCanvas(Math.max(1, width), Math.max(1, height));
  const context = canvas.getContext('2d');
  if (!context || width === 0) throw new Error(m.annotate_no_picture_yet());
  context.drawImage(video, 0, 0);
  return canvas.convertToBlob({ type: 'image/png' });
}

/** Pasted or dropped files. */
export const getTransferFiles = (data: DataTransfer | null): File[] => [...(data?.files ?? [])];

/** The picture on the clipboard, after the browser's permission prompt; null if there is none. */
export async function readClipboardPicture(): Promise<Blob | null> {
  const items = await navigator.clipboard.read().catch((error: unknown) => {
    throw error instanceof DOMException && error.name === 'NotAllowedError'
      ? new Error(m.annotate_clipboard_blocked(), { cause: error })
      : error;
  });
  for (const item of items) {
    const type = item.types.find((each) => each.startsWith('image/') && !each.includes('svg'));
    if (type) return item.getType(type);
  }
  return null;
}
