import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { dragThrough, createTouch } from './canvas-input.ts';
import {
  getLastShape,
  runInPage,
  getAnnouncement,
  useStudioSite,
  getShapes,
  site,
  openStudioPage,
  ADD_THREE_SHAPES,
} from './studio-page.ts';

useStudioSite();

verifies('canvas.studio/clipboard', 'what is cut in one studio is pasted in another; other text is refused', async () => {
  const page = await openStudioPage(ADD_THREE_SHAPES);
  await page.keyboard.press('Control+a');
  const text = await runInPage(page, 'return shown.cut()');
  expect(await getShapes(page)).toEqual([]);
  const other = await openStudioPage();
  const pasted = await other.evaluate(
    ([clip]) => {
      const studio = Reflect.get(globalThis, 'shown') as { paste(text: string, at?: object): boolean; selection: string[] };
      return [
        studio.paste('hello'),
        studio.paste('{"format":"perch-shapes"}'),
        studio.paste(String(clip), { x: 300, y: 200 }),
        studio.selection.length,
      ];
    },
    [text],
  );
  expect(pasted).toEqual([false, false, true, 3]);
  const list = await getShapes(other);
  expect(list.map(({ kind }) => kind)).toEqual(['rect', 'rect', 'ellipse']);
  expect(list.map(({ id }) => id)).not.toContain('a');
  await other.keyboard.press('Control+z');
  expect(await getShapes(other)).toEqual([]);
});

verifies('canvas.studio/text', 'an input method composes to its end, also with Enter; from right to left; emptied it goes', async () => {
  const page = await openStudioPage(`put('callout', 'k', { x: 300, y: 100, width: 160, height: 60, tipX: 280, tipY: 220, text: 'old' });`);
  const cdp = await page.context().newCDPSession(page);
  await page.keyboard.press('t');
  await page.mouse.click(50, 60);
  const field = page.getByRole('textbox');
  await field.waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
  await cdp.send('Input.imeSetComposition', { text: 'にほん', selectionStart: 3, selectionEnd: 3 });
  // As a browser has it: the Enter that takes the word is part of composing.
  await field.evaluate((at) =>
    at.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true })),
  );
  expect(await field.inputValue()).toBe('にほん');
  expect(await getShapes(page)).toHaveLength(1);
  await cdp.send('Input.insertText', { text: '日本' });
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('שלום v');
  expect(await field.getAttribute('dir')).toBe('auto');
  await page.keyboard.press('Enter');
  expect(await getLastShape(page)).toMatchObject({ kind: 'text', text: '日本\nשלום v' });
  expect(await field.count()).toBe(0);
  // In place: by a double click; Escape keeps what was typed, too.
  await page.keyboard.press('v');
  await page.mouse.dblclick(380, 120);
  expect(await field.inputValue()).toBe('old');
  await page.keyboard.type('this too');
  await page.keyboard.press('Escape');
  expect((await getShapes(page))[0]).toMatchObject({ text: 'this too' });
  await page.keyboard.press('Control+z');
  expect((await getShapes(page))[0]).toMatchObject({ text: 'old' });
  await page.keyboard.press('Enter');
  await field.fill('new');
  await page.keyboard.press('Enter');
  expect((await getShapes(page))[0]).toMatchObject({ text: 'new' });
  await page.keyboard.press('Control+z');
  expect((await getShapes(page))[0]).toMatchObject({ text: 'old' });
  await page.keyboard.press('Enter');
  await field.fill(' ');
  await page.keyboard.press('Enter');
  expect((await getShapes(page)).map(({ kind }) => kind)).toEqual(['text']);
  await page.keyboard.press('Control+z');
  expect((await getShapes(page)).map(({ kind }) => kind)).toEqual(['callout', 'text']);
});

verifies('canvas.studio/touch', 'one finger draws, a second one turns that into zoom and pan about both', async () => {
  const page = await openStudioPage();
  const cdp = await page.context().newCDPSession(page);
  await page.keyboard.press('p');
  await createTouch(cdp, 'touchStart', { x: 50, y: 50 });
  await createTouch(cdp, 'touchMove', { x: 90, y: 60 });
  await createTouch(cdp, 'touchEnd');
  await expect.poll(() => getShapes(page)).toHaveLength(1);
  await createTouch(cdp, 'touchStart', { x: 200, y: 200, id: 1 });
  await createTouch(cdp, 'touchMove', { x: 220, y: 200, id: 1 });
  await createTouch(cdp, 'touchStart', { x: 220, y: 200, id: 1 }, { x: 320, y: 200, id: 2 });
  await createTouch(cdp, 'touchMove', { x: 170, y: 200, id: 1 }, { x: 370, y: 200, id: 2 });
  await expect.poll(() => runInPage(page, 'return shown.zoom')).toBeCloseTo(2, 5);
  // The point between the fingers stays in place.
  await expect
    .poll(() => runInPage(page, 'return shown.view.toDrawingPoint({ x: 270, y: 200 })'))
    .toEqual({ x: expect.closeTo(270, 3), y: expect.closeTo(200, 3) });
  await createTouch(cdp, 'touchMove', { x: 170, y: 250, id: 1 }, { x: 370, y: 250, id: 2 });
  await expect
    .poll(() => runInPage(page, 'return shown.view.toDrawingPoint({ x: 270, y: 250 })'))
    .toEqual({ x: expect.closeTo(270, 3), y: expect.closeTo(200, 3) });
  await createTouch(cdp, 'touchEnd', { x: 170, y: 250, id: 1 });
  await createTouch(cdp, 'touchMove', { x: 100, y: 100, id: 1 });
  await createTouch(cdp, 'touchEnd');
  expect(await getShapes(page)).toHaveLength(1);
});

verifies('canvas.studio/touch', 'a pen draws as it is pressed, and a hand beside it neither draws nor zooms', async () => {
  const page = await openStudioPage();
  const cdp = await page.context().newCDPSession(page);
  await page.keyboard.press('p');
  // The hand first; then the pen, and while it is down a second part of the hand.
  await createTouch(cdp, 'touchStart', { x: 400, y: 300, id: 1 });
  const send = (type: 'mousePressed' | 'mouseMoved' | 'mouseReleased', x: number, force: number) =>
    cdp.send('Input.dispatchMouseEvent', { type, x, y: 100, force, pointerType: 'pen', button: 'left', buttons: 1, clickCount: 1 });
  await send('mousePressed', 50, 0.2);
  await createTouch(cdp, 'touchStart', { x: 400, y: 300, id: 1 }, { x: 450, y: 300, id: 2 });
  await createTouch(cdp, 'touchMove', { x: 380, y: 300, id: 1 }, { x: 480, y: 300, id: 2 });
  await send('mouseMoved', 150, 0.9);
  await send('mouseReleased', 150, 0.9);
  await createTouch(cdp, 'touchEnd');
  await expect.poll(() => getShapes(page)).toHaveLength(1);
  const { trace } = (await getLastShape(page)) as { trace: [number, number, number][] };
  expect(trace.map(([, y]) => Math.round(y))).toEqual(trace.map(() => 100));
  expect([trace[0]?.[2], trace.at(-1)?.[2]]).toEqual([expect.closeTo(0.2, 2), expect.closeTo(0.9, 2)]);
  expect(await runInPage(page, 'return shown.zoom')).toBe(1);
});

verifies('canvas.studio/touch', 'the wheel pans, with Mod it zooms about the pointer; keys zoom from 5 % to 4000 %', async () => {
  const page = await openStudioPage();
  await page.mouse.move(200, 100);
  await page.mouse.wheel(30, 40);
  await expect.poll(() => runInPage(page, 'return shown.view.toElementPoint({ x: 0, y: 0 })')).toEqual({ x: -30, y: -40 });
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -50);
  await page.keyboard.up('Control');
  await expect.poll(() => runInPage(page, 'return shown.zoom')).toBeCloseTo(Math.exp(0.5), 5);
  expect(await runInPage(page, 'return shown.view.toDrawingPoint({ x: 200, y: 100 })')).toEqual({
    x: expect.closeTo(230, 6),
    y: expect.closeTo(140, 6),
  });
  await page.keyboard.press('Control+0');
  expect(await runInPage(page, 'return shown.zoom')).toBe(1);
  await page.keyboard.press('Control+Equal');
  expect(await runInPage(page, 'return shown.zoom')).toBe(1.25);
  for (let press = 0; press < 25; press++) await page.keyboard.press('Control+-');
  expect(await runInPage(page, 'return shown.zoom')).toBe(0.05);
  for (let press = 0; press < 40; press++) await page.keyboard.press('Control+Equal');
  expect(await runInPage(page, 'return shown.zoom')).toBe(40);
  await page.keyboard.press('Shift+Digit1');
  const whole = (await runInPage(page, 'return shown.view.box')) as { x: number; y: number; width: number; height: number };
  expect([whole.x <= 0, whole.y <= 0, whole.x + whole.width >= 600, whole.y + whole.height >= 400]).toEqual([true, true, true, true]);
});

verifies('canvas.studio/keyboard', 'keys alone: draw, go from shape to shape, change, and it is said', async () => {
  const page = await openStudioPage();
  await page.keyboard.press('r');
  expect(await getAnnouncement(page)).toBe('Tool: Rectangle');
  for (const key of ['Enter', 'ArrowRight', 'ArrowRight', 'Shift+ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  expect(await getLastShape(page)).toMatchObject({ kind: 'rect', x: 300, y: 200, width: 20, height: 11 });
  expect(await getAnnouncement(page)).toBe('Rectangle drawn');
  for (const key of ['n', 'ArrowLeft', 'Enter', 'Enter', 't', 'ArrowUp', 'Enter', 'Enter']) await page.keyboard.press(key);
  await page.getByRole('textbox').fill('Look here');
  await page.keyboard.press('Enter');
  for (const key of ['y', 'Enter', 'Enter', 'ArrowLeft', 'Enter', 'Enter', 'ArrowUp', 'Enter', 'Enter', 'Enter', 'Enter'])
    await page.keyboard.press(key);
  expect((await getShapes(page)).map(({ kind }) => kind)).toEqual(['rect', 'marker', 'text', 'polygon']);
  await page.keyboard.press('v');
  const heard: unknown[] = [];
  for (const key of ['Tab', 'Tab', 'Tab', 'Tab', 'Shift+Tab']) {
    await page.keyboard.press(key);
    heard.push(await getAnnouncement(page));
  }
  expect(heard).toEqual(['Rectangle, 1 of 4', 'Marker 1, 2 of 4', 'Text Look here, 3 of 4', 'Polygon, 4 of 4', 'Text Look here, 3 of 4']);
  await page.keyboard.press('Enter');
  await page.getByRole('textbox').fill('There');
  await page.keyboard.press('Enter');
  expect((await getShapes(page))[2]).toMatchObject({ text: 'There' });
  await page.keyboard.press('Delete');
  expect(await getAnnouncement(page)).toBe('Deleted Text There');
  // Past the last the focus goes on: nobody is caught.
  for (const key of ['Tab', 'Tab', 'Tab', 'Tab']) await page.keyboard.press(key);
  expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY');
  await runInPage(page, 'shown.focus()');
  for (const key of ['Tab', 'Escape']) await page.keyboard.press(key);
  expect([await getAnnouncement(page), await runInPage(page, 'return [...shown.selection]')]).toEqual(['Nothing selected', []]);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY');
});

verifies('canvas.studio/redaction', 'what is redacted is in neither pixels nor bytes of what is exported', async () => {
  const page = await openStudioPage(`put('text', 's', { x: 100, y: 100, text: 'hunter2', size: 30 });`);
  await page.keyboard.press('x');
  await dragThrough(page, [90, 90], [260, 150]);
  await page.keyboard.press('Control+a');
  await runInPage(page, "shown.color = '#ff000010'");
  expect(await getLastShape(page)).toMatchObject({ kind: 'redaction', color: '#ff000010' });
  const { colors } = (await runInPage(
    page,
    'return pixels(await ui.exportImage(shown.drawing), Array.from({ length: 170 * 60 }, (_, at) => [90 + (at % 170), 90 + Math.floor(at / 170)]))',
  )) as { colors: string[] };
  expect(new Set(colors)).toEqual(new Set(['#ff0000ff']));
  const bytes = (await runInPage(
    page,
    'return [await ui.exportSvg(shown.drawing), String.fromCharCode(...(await ui.exportImage(shown.drawing)))]',
  )) as string[];
  for (const each of bytes) expect(each).not.toContain('hunter2');
  await page.keyboard.press('u');
  expect(await getAnnouncement(page)).toBe('Tool: Blur (cosmetic)');
});

verifies('canvas.studio/draft', 'a stroke is told while it is drawn, at most once a frame, and shown elsewhere', async () => {
  const page = await openStudioPage();
  await runInPage(
    page,
    `globalThis.drafts = []; globalThis.frames = 0;
    const frame = () => { frames++; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
    shown.onDraft = (shape) => drafts.push(shape && structuredClone(shape));`,
  );
  await page.keyboard.press('p');
  await page.mouse.move(50, 50);
  await page.mouse.down();
  await page.mouse.move(150, 90, { steps: 10 });
  await expect.poll(() => runInPage(page, 'return drafts.at(-1)?.trace?.length')).toBeGreaterThan(5);
  const before = (await runInPage(page, 'return [drafts.length, frames]')) as [number, number];
  expect(before[0]).toBeLessThanOrEqual(before[1] + 1);
  const draft = await runInPage(page, 'return drafts.at(-1)');
  expect(await getShapes(page)).toEqual([]);
  await page.mouse.up();
  await expect.poll(() => runInPage(page, 'return [drafts.length, drafts.at(-1)]')).toEqual([expect.any(Number), undefined]);
  expect(await getShapes(page)).toHaveLength(1);
  const other = await openStudioPage();
  const ink = (): Promise<unknown> =>
    runInPage(
      other,
      'const { width, height } = shown.surface; return shown.surface.getContext("2d").getImageData(0, 0, width, height).data.some((each) => each > 0)',
    );
  expect(await ink()).toBe(false);
  await other.evaluate(
    ([shape]) => (Reflect.get(globalThis, 'shown') as { setRemoteDraft(who: string, shape: unknown): void }).setRemoteDraft('ana', shape),
    [draft],
  );
  await expect.poll(ink).toBe(true);
  await runInPage(other, "shown.setRemoteDraft('ana', undefined)");
  await expect.poll(ink).toBe(false);
  await runInPage(other, 'await shown.dispose()');
  expect([await other.locator('canvas').count(), site.browser.complaints]).toEqual([0, []]);
});
