import type { CDPSession, Page } from 'playwright';

/** Presses at the first point, moves to the others and releases. */
export async function dragThrough(page: Page, ...points: readonly (readonly [number, number])[]): Promise<void> {
  const [[x, y] = [0, 0], ...rest] = points;
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (const [toX, toY] of rest) await page.mouse.move(toX, toY, { steps: 4 });
  await page.mouse.up();
}

/** A pen, as the browser has it from a tablet. */
export async function createPen(cdp: CDPSession, points: readonly (readonly [x: number, y: number, force: number])[]): Promise<void> {
  const send = (type: 'mousePressed' | 'mouseMoved' | 'mouseReleased', [x, y, force]: readonly [number, number, number]) =>
    cdp.send('Input.dispatchMouseEvent', { type, x, y, force, pointerType: 'pen', button: 'left', buttons: 1, clickCount: 1 });
  const [first = [0, 0, 0] as const] = points;
  await send('mousePressed', first);
  for (const point of points) await send('mouseMoved', point);
  await send('mouseReleased', points.at(-1) ?? first);
}

/** Fingers, as the browser has them from a screen. */
export const createTouch = (
  cdp: CDPSession,
  type: 'touchStart' | 'touchMove' | 'touchEnd' | 'touchCancel',
  ...points: readonly { x: number; y: number; id?: number }[]
) => cdp.send('Input.dispatchTouchEvent', { type, touchPoints: [...points] });
