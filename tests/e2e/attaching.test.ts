import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { afterAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { openLinkedPage } from './connection-status.ts';
import { dropFiles } from './drop-files.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

/** One pixel. */
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

describe('attachments of a message', () => {
  const at = useGatewayAndBrowser();
  const folder = mkdtempSync(join(tmpdir(), 'perch-drop-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const names = (page: Page) => page.getByRole('button', { name: /^Remove / }).evaluateAll((all) => all.map((each) => each.ariaLabel));

  verifies('app/attached', 'a folder can give the files within it, up to the limit of a message', async () => {
    const notes = join(folder, 'notes');
    for (const each of ['notes/inner', 'notes/.hidden', 'none', 'many']) mkdirSync(join(folder, each), { recursive: true });
    for (const each of ['notes/b.txt', 'notes/inner/c.txt', 'notes/.hidden/d.txt', 'notes/.e']) writeFileSync(join(folder, each), 'words');
    for (let each = 0; each < 60; each++) writeFileSync(join(folder, 'many', `${each}.txt`), 'words');
    const page = await openLinkedPage(at.browser, at.perch);
    writeFileSync(join(folder, 'a.txt'), 'words');
    await dropFiles(page, [join(folder, 'a.txt'), notes]);
    const attach = page.getByRole('button', { name: 'Attach to message' });
    await attach.click();
    await page.getByRole('button', { name: 'Remove c.txt' }).waitFor();
    expect(await names(page)).toEqual(['Remove a.txt', 'Remove b.txt', 'Remove c.txt']);
    await dropFiles(page, [join(folder, 'none')]);
    await page.getByRole('dialog', { name: 'No readable files found' }).waitFor();
    await takeScreenshots(page, 'folder-dropped');
    await page.keyboard.press('Escape');
    await dropFiles(page, [join(folder, 'many')]);
    await page.getByRole('dialog', { name: 'Add 60 files to a collection?' }).waitFor();
    expect(await attach.count()).toBe(0);
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
