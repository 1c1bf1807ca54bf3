import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { findLowContrast, findOverflow, waitForNoProblems } from './accessibility.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { waitForConnection } from './connection-status.ts';
import { type Perch, startPerch } from './perch-process.ts';
import { connectOutside } from './outside-client.ts';
import { takeScreenshots } from './take-screenshots.ts';

/** A page that notes what is done to it; its colour is its path (never white, which an empty tab is too). */
const PAGE = (color: string): string => `<!doctype html><title>${color}</title>
<body style="margin: 0; height: 3000px; background: ${color}"><input style="position: absolute; left: 100px; top: 100px; width: 300px; height: 40px">
<script>
const did = []; const note = (...words) => { did.push(words.join(' ')); document.body.dataset.did = did.join(', '); };
addEventListener('mousedown', (e) => note('down', e.clientX, e.clientY, e.button, e.detail));
addEventListener('mouseup', (e) => note('up', e.clientX, e.clientY));
addEventListener('dblclick', () => note('double'));
addEventListener('keydown', (e) => note('key', (e.ctrlKey ? 'Control+' : '') + e.key));
</script>`;

describe('the page of the agents’ browser', () => {
  const site = createServer(({ url = '/' }, response) => {
    if (url === '/file') response.writeHead(200, { 'content-disposition': 'attachment; filename="list.txt"' }).end('one\ntwo\n');
    else response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE(url.slice(1) || 'gray'));
  });
  let perch: Perch;
  let browser: TestBrowser;
  let outside: Awaited<ReturnType<typeof connectOutside>>;
  let at = '';

  beforeAll(async () => {
    await once(site.listen(0, '127.0.0.1'), 'listening');
    const siteAddress = `127.0.0.1:${(site.address() as AddressInfo).port}`;
    at = `http://${siteAddress}`;
    perch = await startPerch({ host: 'headless' });
    browser = await launchBrowser();
    outside = await connectOutside(perch);
    await outside.client.call('config.set', { key: 'browser.allow', value: [siteAddress] });
    const first = await browser.page(perch.linkUrl);
    await waitForConnection(first, 'Connected');
    await first.close();
  });
  afterAll(async () => {
    outside?.[Symbol.dispose]();
    await browser?.[Symbol.asyncDispose]();
    await perch?.[Symbol.asyncDispose]();
    site.close();
  });

  const status = (page: Page): Locator => page.getByRole('status').filter({ hasText: /Live|live|control|lost|closed|stopped/ });
  const evaluated = async (fn: string): Promise<unknown> => (await outside.client.call('browser.evaluate', { fn })).result;
  const did = (): Promise<unknown> => evaluated('document.body.dataset.did ?? ""');

  async function openPage(path?: string): Promise<Page> {
    const page = await browser.page(`${perch.url}/browser`);
    await waitForConnection(page, 'Connected');
    if (path === undefined) return page;
    await outside.client.call('browser.start', {});
    await page.getByRole('textbox', { name: 'Address' }).fill(`${at}/${path}`);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await shows(page, path);
    return page;
  }

  /** The picture's own pixel near its right lower corner has this colour, more or less: it is a JPEG. */
  async function shows(page: Page, color: string): Promise<void> {
    await waitFor(
      () =>
        page.locator('canvas').evaluate((canvas, expectedColour) => {
          const of = (from: CanvasRenderingContext2D | null, x: number, y: number) => [...(from?.getImageData(x, y, 1, 1).data ?? [])];
          const { width, height } = canvas as HTMLCanvasElement;
          const actualColour = of((canvas as HTMLCanvasElement).getContext('2d'), width - 20, height - 20);
          const context = new OffscreenCanvas(1, 1).getContext('2d');
          if (!context) return false;
          context.fillStyle = expectedColour;
          context.fillRect(0, 0, 1, 1);
          const want = [...context.getImageData(0, 0, 1, 1).data];
          return actualColour.every((value, n) => Math.abs(value - (want[n] ?? 0)) < 24);
        }, color),
      `a picture of the ${color} page`,
    );
  }

  verifies(
    ['browser.app/watch', 'browser.app/tabs'],
    'started, watched as it changes, with tabs, addresses, and profiles; hidden it is not watched',
    async () => {
      const page = await openPage();
      const sent: string[] = [];
      page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => void sent.push(String(payload))));
      await page.reload();
      await page.getByRole('button', { name: 'Start browser' }).click();
      await status(page).getByText('Live. Agents are in control.').waitFor();
      // An agent goes somewhere.
      await outside.client.call('browser.open', { url: `${at}/lime` });
      await shows(page, 'lime');
      const box = await page.locator('canvas').boundingBox();
      expect((box?.width ?? 0) / (box?.height ?? 1)).toBeCloseTo(1.6, 1);
      const tabs = page.getByRole('list', { name: 'Tabs' });
      await tabs.getByRole('button', { name: 'lime', exact: true }).waitFor();
      expect(await page.getByRole('textbox', { name: 'Address' }).inputValue()).toBe(`${at}/lime`);

      const address = page.getByRole('textbox', { name: 'Address' });
      await address.fill('javascript:alert(1)');
      await address.press('Enter');
      await page.getByText('Enter a valid web address').waitFor();
      await address.fill(`${at.slice(7)}/blue`);
      await address.press('Enter');
      await shows(page, 'blue');
      await page.getByRole('button', { name: 'Back' }).click();
      await shows(page, 'lime');
      await page.getByRole('button', { name: 'Forward' }).click();
      await shows(page, 'blue');
      await evaluated('document.body.style.background = "yellow"');
      await shows(page, 'yellow');
      await page.getByRole('button', { name: 'Reload' }).click();
      await shows(page, 'blue');

      await page.getByRole('button', { name: 'New tab' }).click();
      await waitFor(async () => (await address.inputValue()) === 'about:blank', 'the new tab');
      await address.fill(`${at}/red`);
      await address.press('Enter');
      await shows(page, 'red');
      await tabs.getByRole('button', { name: 'blue', exact: true }).click();
      await shows(page, 'blue');
      await tabs.getByRole('button', { name: 'Close red' }).click();
      await waitFor(
        async () => !(await outside.client.call('browser.tabs', {})).tabs.some(({ title }) => title === 'red'),
        'the tab to close',
      );
      await tabs.getByRole('button', { name: 'red', exact: true }).waitFor({ state: 'detached' });

      await address.fill(`${at}/file`);
      await address.press('Enter');
      await page.getByText('Page dialogs and downloads').click();
      const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save list.txt' }).click()]);
      expect(readFileSync(await saved.path(), 'utf8')).toBe('one\ntwo\n');
      await page.getByLabel('Page dialogs', { exact: true }).selectOption('accept');
      await waitFor(async () => (await evaluated('confirm("Really?")')) === true, 'the question to be accepted');
      await page.getByText('Page dialogs and downloads').click();
      await takeScreenshots(page, 'browser');
      for (const width of [320, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await waitFor(
          async () => [...(await findOverflow(page)), ...(await findLowContrast(page))].length === 0,
          `nothing cut off or pale, ${width}`,
        );
      }

      await page.getByRole('button', { name: 'Browser options' }).click();
      await page.getByRole('menuitem', { name: 'New profile…' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('work');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByText('Browser not running').waitFor();
      await page.getByRole('button', { name: 'Browser options' }).click();
      await page.getByRole('menuitem', { name: 'Delete profile…' }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await shows(page, 'blue');
      expect((await outside.client.call('browser.profiles', {})).profiles.map(({ name }) => name)).not.toContain('work');

      // An agent stops it, and another starts it.
      await outside.client.call('browser.stop', {});
      await page.getByText('Browser not running').waitFor();
      await outside.client.call('browser.open', { url: `${at}/red` });
      await shows(page, 'red');

      const turn = (to: 'hidden' | 'visible') =>
        page.evaluate((state) => {
          Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
          document.dispatchEvent(new Event('visibilitychange'));
        }, to);
      sent.length = 0;
      await turn('hidden');
      await waitFor(() => sent.some((frame) => frame.includes('"browser.unwatch"')), 'the view to end');
      expect(sent.some((frame) => frame.includes('"browser.watch"'))).toBe(false);
      await evaluated('document.body.style.background = "yellow"');
      await turn('visible');
      await shows(page, 'yellow');

      await page.getByRole('button', { name: 'Browser options' }).click();
      await page.getByRole('menuitem', { name: 'Stop browser' }).click();
      await page.getByText('Browser not running').waitFor();
      expect(await outside.client.call('browser.status', {})).toMatchObject({ started: false });
      expect(browser.complaints).toEqual([]);
      await page.close();
    },
    120_000,
  );

  verifies(
    ['browser.app/wheel', 'browser.app/annotate'],
    'a person takes the wheel: clicks, drags, scrolls, types, composes, pastes, taps; gives it back; and draws on the picture',
    async () => {
      const page = await openPage('gold');
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: perch.url });
      const picture = page.locator('canvas');
      const box = (await picture.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      const place = (x: number, y: number): [number, number] => [box.x + (x * box.width) / 1280, box.y + (y * box.height) / 800];
      const { mouse, keyboard } = page;

      // Nothing goes to the page before.
      await mouse.click(...place(700, 300));
      await page.getByRole('button', { name: 'Take control' }).click();
      await status(page).getByText('You’re in control').waitFor();
      expect(await did()).toBe('');
      await takeScreenshots(page, 'browser-wheel');
      await page.setViewportSize({ width: 1280, height: 800 });

      await mouse.dblclick(...place(700, 300));
      await waitFor(async () => String(await did()).includes('double'), 'the double click');
      await mouse.move(...place(600, 200));
      await mouse.down();
      await mouse.move(...place(800, 400), { steps: 4 });
      await mouse.up();
      await waitFor(async () => /down (599|600|601) \d+ 0 1, up (799|800|801) (399|400|401)$/.test(String(await did())), 'the drag');
      await mouse.wheel(0, 500);
      await waitFor(async () => (await evaluated('scrollY')) === 500, 'the page to scroll');
      await mouse.wheel(0, -500);
      await waitFor(async () => (await evaluated('scrollY')) === 0, 'the page to scroll back');

      const value = (): Promise<unknown> => evaluated('document.querySelector("input").value');
      await mouse.click(...place(200, 120));
      await keyboard.type('Ab c+');
      await keyboard.press('Backspace');
      await waitFor(async () => (await value()) === 'Ab c', 'what was typed');
      // As an input method composes it.
      const session = await page.context().newCDPSession(page);
      await session.send('Input.imeSetComposition', { text: 'に', selectionStart: 1, selectionEnd: 1 });
      await session.send('Input.insertText', { text: '日本' });
      await waitFor(async () => (await value()) === 'Ab c日本', 'what was composed');
      await page.evaluate(() => navigator.clipboard.writeText(' Grüße'));
      await keyboard.press('Control+V');
      await waitFor(async () => (await value()) === 'Ab c日本 Grüße', 'what was pasted');
      await keyboard.press('Control+A');
      await keyboard.press('Escape');
      await keyboard.press('Delete');
      await waitFor(async () => (await value()) === '', 'all of it deleted');
      expect(await did()).toContain('key Escape');

      await keyboard.press('Shift+Escape');
      await status(page).getByText('Live. Agents are in control.').waitFor();
      await waitFor(() => page.evaluate(() => document.activeElement?.textContent === 'Take control'), 'the button to have the keyboard');
      const before = String(await did());
      await keyboard.press('x');
      await mouse.click(...place(700, 300));

      // With a finger, by what the screen itself sends.
      await page.getByRole('button', { name: 'Take control' }).click();
      await status(page).getByText('You’re in control').waitFor();
      const [x, y] = place(200, 120);
      const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', at: number | null) =>
        session.send('Input.dispatchTouchEvent', { type, touchPoints: at === null ? [] : [{ x, y: at }] });
      const isTapped = async (): Promise<boolean> => /, up \d+ \d+/.test(String(await did()).slice(before.length));
      // One in the moment in which the wheel changes hands may come to nothing.
      for (let tries = 1; tries <= 3 && !(await isTapped()); tries++) {
        await touch('touchStart', y);
        await touch('touchEnd', null);
        await waitFor(isTapped, 'the tap', 4000).catch((error: unknown) => {
          if (tries === 3) throw error;
        });
      }
      expect(String(await did()).slice(before.length)).toMatch(/^, down (199|200|201) (119|120|121) 0 [12], up \d+ \d+/);
      await touch('touchStart', box.y + box.height - 20);
      for (const part of [60, 120, 200]) await touch('touchMove', box.y + box.height - part);
      await touch('touchEnd', null);
      await waitFor(async () => Number(await evaluated('scrollY')) > 100, 'the finger to scroll');
      await page.getByRole('button', { name: 'Give back control' }).click();

      await page.getByRole('button', { name: 'Annotate' }).click();
      await page.waitForURL(/\/annotate\/.+/);
      await page.getByRole('textbox', { name: 'Drawing title' }).waitFor();
      expect(await page.getByLabel('Drawing title').inputValue()).toBe('gold');
      expect(browser.complaints).toEqual([]);
      await page.close();
    },
    120_000,
  );

  verifies(
    'browser.app/away',
    'an ended view restarts; a lost bridge is reported, and reconnects; without a link the page says what to start',
    async () => {
      const page = await browser.page();
      await page.clock.install();
      await page.goto(`${perch.url}/browser`);
      await waitForConnection(page, 'Connected');
      await outside.client.call('browser.open', { url: `${at}/lime` });
      await shows(page, 'lime');
      // An agent stops the browser and starts it anew between two looks of the page.
      await page.clock.pauseAt(Date.now() + 60_000);
      await outside.client.call('browser.stop', {});
      await outside.client.call('browser.start', {});
      await page.getByRole('button', { name: 'Watch again' }).waitFor();
      await status(page).getByText('The browser was stopped.').waitFor();
      expect(await page.getByRole('button', { name: 'Take control' }).isDisabled()).toBe(true);
      // The picture shows the last state and is faded.
      expect(await page.locator('canvas').evaluate((canvas) => Number(getComputedStyle(canvas).opacity))).toBeLessThan(0.5);
      await takeScreenshots(page, 'ended');
      await page.getByRole('button', { name: 'Watch again' }).click();
      await outside.client.call('browser.navigate', { url: `${at}/red` });
      await shows(page, 'red');
      await page.clock.resume();
      await status(page).getByText('Live. Agents are in control.').waitFor();
      expect(await page.locator('canvas').evaluate((canvas) => getComputedStyle(canvas).opacity)).toBe('1');

      // The wheel is let go of, and is not taken again by itself.
      await page.getByRole('button', { name: 'Take control' }).click();
      await status(page).getByText('You’re in control').waitFor();
      outside[Symbol.dispose]();
      await perch.kill('SIGKILL');
      await status(page).getByText('Connection lost. Reconnecting…').waitFor();
      expect(await page.getByRole('button', { name: 'Annotate', exact: true }).isDisabled()).toBe(true);
      await takeScreenshots(page, 'lost');
      await page.getByText('Perch isn’t running on your computer').waitFor();
      await takeScreenshots(page, 'away');
      await perch.restart();
      outside = await connectOutside(perch);
      await page.getByRole('button', { name: 'Start browser' }).click();
      await outside.client.call('browser.open', { url: `${at}/blue` });
      await shows(page, 'blue');
      await status(page).getByText('Live. Agents are in control.').waitFor();
      await page.close();

      // A browser that is not linked.
      await using other = await launchBrowser();
      const alone = await other.page(`${perch.url}/browser`);
      await alone.getByText('The browser needs Perch on your computer').waitFor();
      await alone.getByText('perch open').waitFor();
      await takeScreenshots(alone, 'unlinked');
      expect(await waitForNoProblems(() => findOverflow(alone), 'too wide')).toEqual([]);
      expect(other.complaints).toEqual([]);
    },
    180_000,
  );
});
