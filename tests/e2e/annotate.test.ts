import { readFileSync } from 'node:fs';
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { startUpstream, type Upstream } from '../upstream.ts';
import { lowContrast, operable, overflowing, remaining, tabAround } from './accessibility.ts';
import { launchBrowser, type TestBrowser } from './browser.ts';
import { connected } from './connected.ts';
import { type Perch, startPerch } from './harness.ts';
import { addProvider, connectOutside, type Outside } from './outside.ts';
import { pixelsOf, redBlueJpeg, turned, whitePng } from './pictures.ts';
import { shoot } from './shoot.ts';

describe('the Annotate page', () => {
  let perch: Perch;
  let browser: TestBrowser;
  let upstream: Upstream;
  let outside: Outside;

  beforeAll(async () => {
    // The tab stays a replica, so that nothing moves while it is looked at.
    perch = await startPerch({ host: 'headless' });
    browser = await launchBrowser({
      args: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', '--auto-accept-this-tab-capture'],
    });
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: perch.url });
    upstream = await startUpstream({ models: ['normal-vision'] });
    outside = await connectOutside(perch);
    await addProvider(outside.client, upstream.url);
    await outside.client.call('config.set', { key: 'chat.model', value: 'local/normal-vision' });
    const page = await browser.page(perch.linkUrl);
    await connected(page, 'Bridge');
    await page.close();
  });
  afterAll(async () => {
    outside?.[Symbol.dispose]();
    await browser?.[Symbol.asyncDispose]();
    await perch?.[Symbol.asyncDispose]();
    await upstream?.close();
  });

  const open = async (path: string): Promise<Page> => {
    const page = await browser.page(perch.url + path);
    await connected(page, 'Bridge');
    return page;
  };
  const saved = (page: Page): Promise<void> => page.locator('[data-saving=saved]').waitFor();
  /** A new drawing on an empty sheet; the page shows it. */
  const blank = async (): Promise<Page> => {
    const page = await open('/annotate');
    await page.getByRole('button', { name: 'Empty sheet' }).click();
    await page.getByRole('radio', { name: 'Pen' }).waitFor();
    return page;
  };
  const choose = (page: Page, tool: string): Promise<void> => page.getByRole('radio', { name: tool, exact: true }).check();
  /** Drags over the drawing, from and to shares of what is seen of it. */
  const drag = async (page: Page, from: [number, number], to: [number, number]): Promise<void> => {
    const box = await page.getByRole('application', { name: 'Drawing' }).boundingBox();
    if (!box) throw new Error('the drawing is not in sight');
    await page.mouse.move(box.x + from[0] * box.width, box.y + from[1] * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + to[0] * box.width, box.y + to[1] * box.height, { steps: 8 });
    await page.mouse.up();
  };
  /** Opens the panel where it is not, and shows a part of it: a browser keeps both. */
  const panel = async (page: Page, part: 'Layers' | 'Notes'): Promise<void> => {
    const toggle = page.getByRole('button', { name: 'Layers and notes' });
    if ((await toggle.getAttribute('aria-pressed')) !== 'true') await toggle.click();
    await page.getByRole('button', { name: part, exact: true }).click();
  };
  const idOf = (page: Page): string => new URL(page.url()).pathname.split('/').at(-1) ?? '';
  /** The kinds of what the gateway has of a drawing. */
  const kindsOf = async (page: Page): Promise<string[]> => {
    const { changes } = await outside.client.call('drawings.open', { drawingId: idOf(page) });
    return changes.flatMap(({ set }) => (set.kind && set.kind !== 'page' ? [set.kind] : []));
  };
  const layer = (page: Page, name: string) =>
    page.getByRole('list', { name: 'Layers, the uppermost first' }).getByRole('button', { name, exact: true });
  const download = async (page: Page, name: string): Promise<{ name: string; bytes: Buffer }> => {
    await page.getByRole('button', { name: 'Export' }).click();
    const [got] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name, exact: true }).click()]);
    return { name: got.suggestedFilename(), bytes: readFileSync(await got.path()) };
  };

  verifies('annotate/kept', 'drawn, saved, there after a reload, and seen by another page as it is drawn', async () => {
    const page = await blank();
    await choose(page, 'Pen');
    await drag(page, [0.3, 0.3], [0.6, 0.5]);
    await panel(page, 'Layers');
    await layer(page, 'Pen stroke').waitFor();
    await saved(page);
    await until(async () => (await kindsOf(page)).includes('pen'), 'the gateway to have the stroke');
    await page.reload();
    await layer(page, 'Pen stroke').waitFor();

    const other = await open(new URL(page.url()).pathname);
    await layer(other, 'Pen stroke').waitFor();
    await choose(other, 'Rectangle');
    await drag(other, [0.4, 0.4], [0.5, 0.6]);
    await layer(page, 'Rectangle').waitFor();
    await page.getByLabel('Title of the drawing').fill('The login page');
    await page.keyboard.press('Enter');
    await until(async () => (await other.getByLabel('Title of the drawing').inputValue()) === 'The login page', 'the title to come');
    // A step back is of one’s own alone.
    await other.getByRole('button', { name: 'Undo' }).click();
    await layer(page, 'Rectangle').waitFor({ state: 'detached' });
    await layer(other, 'Pen stroke').waitFor();
    await shoot(page, 'studio');
    await other.close();
    await page.goto(`${perch.url}/annotate`);
    await page.getByRole('link', { name: 'The login page' }).locator('img').waitFor();
    await shoot(page, 'list');
    await page.close();
  });

  verifies('annotate/sources', 'files, turned and huge ones, those that are none, paste, drop, camera and screen', async () => {
    const page = await open('/annotate');
    const file = page.locator('[data-source=file]');
    const jpeg = turned(await redBlueJpeg(page));
    await file.setInputFiles({ name: 'upright.jpg', mimeType: 'image/jpeg', buffer: jpeg });
    await page.getByRole('radio', { name: 'Pen' }).waitFor();
    const upright = await download(page, 'PNG');
    expect(upright.name).toBe('upright.png');
    const { size, colors } = await pixelsOf(page, upright.bytes, [
      [40, 20],
      [40, 100],
    ]);
    expect(size).toEqual([80, 120]);
    expect(colors.map((color) => color.slice(1))).toEqual([expect.stringMatching(/^f[a-f0-9]0/), expect.stringMatching(/f[a-f0-9]$/)]);

    await page.goto(`${perch.url}/annotate`);
    await file.setInputFiles({ name: 'huge.png', mimeType: 'image/png', buffer: whitePng(12_000, 9_000) });
    await page.getByText(/huge\.png has 12,000 × 9,000 pixels\. It was made smaller: 4,\d{3} × 3,\d{3}\./).waitFor({ timeout: 60_000 });
    await page.getByRole('radio', { name: 'Pen' }).waitFor();

    await page.goto(`${perch.url}/annotate`);
    await file.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') });
    await page
      .getByRole('alert')
      .getByText(/notes\.txt \(text\/plain\) is no picture/)
      .waitFor();
    await file.setInputFiles({
      name: 'bad.svg',
      mimeType: 'image/svg+xml',
      buffer: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    });
    await page
      .getByRole('alert')
      .getByText(/bad\.svg is an SVG/)
      .waitFor();

    const give = (type: 'drop' | 'paste'): Promise<void> =>
      page.evaluate(
        ({ base64, type: kind }) => {
          const data = new DataTransfer();
          data.items.add(new File([Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))], `${kind}.png`, { type: 'image/png' }));
          const event =
            kind === 'drop'
              ? new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
              : new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
          (document.querySelector('main h1') ?? document.body).dispatchEvent(event);
        },
        { base64: whitePng(64, 48).toString('base64'), type },
      );
    for (const type of ['drop', 'paste'] as const) {
      await page.goto(`${perch.url}/annotate`);
      await page.getByRole('button', { name: 'Empty sheet' }).waitFor();
      await give(type);
      await until(async () => (await page.getByLabel('Title of the drawing').inputValue()) === type, `what was given by ${type}`);
    }
    // Onto a drawing that is open.
    await give('drop');
    await until(async () => (await kindsOf(page)).filter((kind) => kind === 'image').length === 2, 'the second picture');

    await page.goto(`${perch.url}/annotate`);
    await page.getByRole('button', { name: 'Camera' }).click();
    await page.getByRole('button', { name: 'Take the picture' }).click();
    await until(async () => (await page.getByLabel('Title of the drawing').inputValue()) === 'Photograph', 'the photograph');
    await page.goto(`${perch.url}/annotate`);
    await page.getByRole('button', { name: 'Picture of a window or screen' }).click();
    await until(async () => (await page.getByLabel('Title of the drawing').inputValue()) === 'Screenshot', 'the screen');
    expect(await kindsOf(page)).toEqual(['image']);
    await page.close();
  });

  verifies('annotate/export', 'redactions are burned into pixels and vectors, and JSON tells that it has what they cover', async () => {
    const page = await open('/annotate');
    const file = page.locator('[data-source=file]');
    await file.setInputFiles({ name: 'secret.jpg', mimeType: 'image/jpeg', buffer: await redBlueJpeg(page) });
    await choose(page, 'Redact');
    await drag(page, [0.01, 0.01], [0.99, 0.99]);
    await page.getByRole('button', { name: 'Layers and notes' }).waitFor();
    await until(async () => (await kindsOf(page)).includes('redaction'), 'the redaction');
    for (const [name, ending] of [
      ['PNG', 'png'],
      ['JPEG', 'jpg'],
    ] as const) {
      const got = await download(page, name);
      expect(got.name).toBe(`secret.${ending}`);
      const { colors } = await pixelsOf(page, got.bytes, [
        [30, 40],
        [90, 40],
      ]);
      expect(colors).toEqual(['#000000', '#000000']);
    }
    const picture = (text: string): string[] => text.match(/data:image\/\w+;base64,[A-Za-z0-9+/=]+/g) ?? [];
    const svg = (await download(page, 'SVG')).bytes.toString();
    expect(svg).toMatch(/^<svg /);
    for (const each of picture(svg)) {
      const { colors } = await pixelsOf(page, Buffer.from(each.split(',')[1] ?? '', 'base64'), [[30, 40]]);
      expect(colors).toEqual(['#000000']);
    }
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'Drawing (JSON), to go on with' }).click();
    const warning = page.getByRole('dialog', { name: 'What is redacted is in this file' });
    const [got] = await Promise.all([page.waitForEvent('download'), warning.getByRole('button', { name: 'Export the JSON' }).click()]);
    const json = readFileSync(await got.path(), 'utf8');
    expect(picture(json)).toHaveLength(1);

    await page.goto(`${perch.url}/annotate`);
    await file.setInputFiles({ name: got.suggestedFilename(), mimeType: 'application/json', buffer: Buffer.from(json) });
    await until(async () => (await page.getByLabel('Title of the drawing').inputValue()) === 'secret', 'the drawing of the file');
    expect((await kindsOf(page)).sort()).toEqual(['image', 'redaction']);
    await page.goto(`${perch.url}/annotate`);
    await file.setInputFiles({ name: 'other.json', mimeType: 'application/json', buffer: Buffer.from('{}') });
    await page
      .getByRole('alert')
      .getByText(/other\.json: This is no drawing of Perch/)
      .waitFor();

    await page.getByRole('link', { name: 'secret' }).first().click();
    await page.getByRole('radio', { name: 'Pen' }).waitFor();
    await page.keyboard.press('Shift+Alt+C');
    await page.getByText('The picture is on the clipboard.').waitFor();
    expect(await page.evaluate(async () => (await navigator.clipboard.read()).flatMap(({ types }) => types))).toEqual(['image/png']);
    await page.close();
  });

  verifies('annotate/to-chat', 'as one card that survives a reload, is sent with its notes, and opens again on the canvas', async () => {
    const page = await blank();
    await choose(page, 'Numbered marker');
    await drag(page, [0.4, 0.4], [0.4, 0.4]);
    await panel(page, 'Notes');
    await page.getByLabel('Note on 1').fill('The button is cut off');
    await saved(page);
    await shoot(page, 'notes');
    const drawing = new URL(page.url()).pathname;
    await page.getByRole('button', { name: 'Send to chat' }).click();
    await page.getByRole('menuitem', { name: 'A new chat' }).click();
    await page.getByText('Drawing with notes').waitFor();
    await page.reload();
    await page.getByText('Drawing with notes').waitFor();
    await shoot(page, 'card');
    expect(await page.getByRole('link', { name: 'Change it' }).getAttribute('href')).toBe(drawing);
    // Sent again it takes the place of the first; removed it is gone.
    await page.getByRole('link', { name: 'Change it' }).click();
    await page.getByRole('button', { name: 'Send to chat' }).click();
    await page.getByRole('menuitem', { name: 'A new chat' }).click();
    await page.getByText('Drawing with notes').waitFor();
    expect(await page.getByRole('button', { name: 'Remove Drawing.png' }).count()).toBe(1);

    await page.getByRole('textbox', { name: 'Message' }).fill('What is wrong here?');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const { body } = await upstream.request(1);
    const messages = body?.['messages'] as { role: string; content: unknown }[];
    const sent = JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content);
    expect(sent).toContain('What is wrong here?');
    expect(sent).toContain('1. The button is cut off');
    const png = /data:image\/png;base64,([A-Za-z0-9+/=]+)/.exec(sent)?.[1] ?? '';
    expect((await pixelsOf(page, Buffer.from(png, 'base64'), [])).size).toEqual([1600, 1000]);

    await page.getByRole('button', { name: 'Annotate Drawing.png' }).first().click();
    await until(async () => (await page.getByLabel('Title of the drawing').inputValue()) === 'Drawing', 'the picture on the canvas');
    expect(new URL(page.url()).pathname).not.toBe(drawing);
    expect(await kindsOf(page)).toEqual(['image']);
    await page.close();
  });

  verifies('annotate/accessible', 'names, the way by Tab, contrast, 320 px, and twice the size', async () => {
    const page = await blank();
    await page.keyboard.press('n');
    expect(await page.getByRole('radio', { name: 'Numbered marker' }).isChecked()).toBe(true);
    const wrong = (await operable(page)).filter((each) => each.endsWith('""'));
    const { missed, unseen } = await tabAround(page);
    wrong.push(...missed, ...unseen);
    for (const path of ['', '/annotate']) {
      if (path !== '') await page.goto(perch.url + path);
      await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        wrong.push(...(await remaining(() => lowContrast(page), `${path} ${colorScheme}`)));
      }
      for (const width of [320, 640]) {
        await page.setViewportSize({ width, height: 480 });
        wrong.push(...(await remaining(() => overflowing(page), `${path} ${width} px`)));
      }
      await page.setViewportSize({ width: 1280, height: 800 });
    }
    expect(wrong).toEqual([]);
    expect(browser.complaints).toEqual([]);
    await page.close();
  });
});
