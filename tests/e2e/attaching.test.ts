import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { afterAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { openLinkedPage } from './connection-status.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

/** One pixel. */
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

/** As a person drops them from another window. */
async function dropFiles(page: Page, paths: readonly string[]): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const at = { x: 600, y: 300, data: { items: [], files: [...paths], dragOperationsMask: 1 } };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) await devtools.send('Input.dispatchDragEvent', { type, ...at });
  await devtools.detach();
}

describe('attachments of a message', () => {
  const at = useGatewayAndBrowser();
  const folder = mkdtempSync(join(tmpdir(), 'perch-drop-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const names = (page: Page) => page.getByRole('button', { name: /^Remove / }).evaluateAll((all) => all.map((each) => each.ariaLabel));

  verifies('app/attached', 'a folder gives the files within it, and says so where it has none or too many', async () => {
    const notes = join(folder, 'notes');
    for (const each of ['notes/inner', 'notes/.hidden', 'none', 'many']) mkdirSync(join(folder, each), { recursive: true });
    for (const each of ['notes/b.txt', 'notes/inner/c.txt', 'notes/.hidden/d.txt', 'notes/.e']) writeFileSync(join(folder, each), 'words');
    for (let each = 0; each < 60; each++) writeFileSync(join(folder, 'many', `${each}.txt`), 'words');
    const page = await openLinkedPage(at.browser, at.perch);
    writeFileSync(join(folder, 'a.txt'), 'words');
    await dropFiles(page, [join(folder, 'a.txt'), notes]);
    await page.getByRole('button', { name: 'Remove c.txt' }).waitFor();
    expect(await names(page)).toEqual(['Remove a.txt', 'Remove b.txt', 'Remove c.txt']);
    await dropFiles(page, [join(folder, 'none')]);
    await page.getByRole('alert').getByText('none/ is empty.').waitFor();
    await takeScreenshots(page, 'folder-dropped');
    await dropFiles(page, [join(folder, 'many')]);
    await page.getByRole('alert').filter({ hasText: '50' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    expect(await names(page)).toHaveLength(50);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('app/attached', 'what is called a picture and is none is left out, with why', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await page.goto(`${at.perch.url}/incognito`);
    await page.locator('input[type=file]').setInputFiles([
      { name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('no pixels') },
      { name: 'pixel.png', mimeType: 'image/png', buffer: PNG },
      { name: 'sign.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>') },
    ]);
    await page.getByRole('button', { name: 'Remove sign.svg' }).waitFor();
    await page.getByRole('alert').getByText('Couldn’t attach broken.png').waitFor();
    expect(await names(page)).toEqual(['Remove pixel.png', 'Remove sign.svg']);
    await takeScreenshots(page, 'no-picture');
    await page.close();
  });
});
