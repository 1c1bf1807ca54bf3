import { toBase64 } from '#shared/base64.ts';
import type { DesktopPicture, DesktopWindows } from '#shared/rpc/methods/desktop-contracts.ts';

const WIDTH = 1280;
const HEIGHT = 800;

export const DESKTOP_WINDOWS: DesktopWindows = {
  displays: [{ display: 1, name: 'Demo display', width: WIDTH, height: HEIGHT, main: true }],
  windows: [{ windowId: '1', title: 'Herons at the lake', app: 'Demo browser', width: 900, height: 560 }],
};

const ROWS = [
  ['Grey heron', '14 nests', 'trees'],
  ['Great egret', '3 nests', 'reeds'],
  ['Bittern', '1 nest', 'reeds'],
  ['Little bittern', 'seen once', 'unknown'],
];

/** Draws a desktop with a page whose total is wrong. */
export async function drawDesktop(): Promise<DesktopPicture> {
  const canvas = new OffscreenCanvas(WIDTH, HEIGHT);
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser can’t draw pictures in a worker');
  const box = (colour: string, x: number, y: number, width: number, height: number): void => {
    context.fillStyle = colour;
    context.fillRect(x, y, width, height);
  };
  const text = (words: string, x: number, y: number, font = '20px sans-serif', colour = '#22302f'): void => {
    context.font = font;
    context.fillStyle = colour;
    context.fillText(words, x, y);
  };
  box('#0d6577', 0, 0, WIDTH, HEIGHT);
  box('#fdfcfa', 190, 110, 900, 560);
  box('#d9e4e3', 190, 110, 900, 44);
  text('Demo browser – the demo can’t see your screen', 210, 139, '16px sans-serif');
  text('Herons at the lake', 230, 215, 'bold 34px sans-serif');
  for (const [index, row] of ROWS.entries()) {
    const y = 290 + index * 54;
    box(index % 2 === 0 ? '#eef3f2' : '#fdfcfa', 230, y - 32, 820, 48);
    row.forEach((words, column) => text(words, 250 + column * 280, y));
  }
  text('Total: 81 nests', 250, 540, 'bold 24px sans-serif', '#a03b2b');
  text('Spring count', 250, 590, '18px sans-serif', '#5b6b69');
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
  return { screenshotB64: toBase64(bytes), mimeType: 'image/png', sizeBytes: bytes.length, width: WIDTH, height: HEIGHT };
}
