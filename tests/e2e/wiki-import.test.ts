import { TextReader, Uint8ArrayReader, Uint8ArrayWriter, ZipWriter } from '@zip.js/zip.js';
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { listControls } from './accessibility.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { createWhitePng } from './test-pictures.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

const CLAIM = { text: 'Miso is ten years old.', page_path: 'entities/Miso.md', confidence: 0.9, status: 'ACTIVE', tags: [], evidence: [] };

const FILES = {
  'vault/entities/Miso.md': '---\ntags: [cat]\n---\nA black cat of [[Ana]].\n',
  'vault/Ana.md': 'Ana keeps [[Miso]].\n',
  'vault/Same.md': 'The same.\n',
  'vault/con.md': 'No file may be called so everywhere.\n',
  'vault/.obsidian/app.md': 'Hidden.\n',
  'vault/plan.canvas': '{}',
  'vault/no.png': 'no picture',
  'vault/img/miso.png': createWhitePng(40, 30),
  // As some editors on Windows save.
  'vault/windows.md': Buffer.from('\ufeffThe harbour.\n', 'utf16le'),
};

describe('import into the wiki', () => {
  const at = useGatewayAndBrowser();

  verifies('wiki.app/import', 'a folder is previewed, imported, and undone; existing pages stay unless chosen', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await using folder = await mkdtempDisposable(join(tmpdir(), 'perch-import-'));
    for (const [name, text] of Object.entries(FILES)) {
      await mkdir(dirname(join(folder.path, name)), { recursive: true });
      await writeFile(join(folder.path, name), text);
    }
    await client.call('wiki.savePage', { path: 'Ana', content: 'Ana, as she is here.\n', tags: ['person'] });
    await client.call('wiki.savePage', { path: 'Same', content: 'The same.\n' });
    const ana = async (): Promise<string> => (await client.call('wiki.page', { path: 'Ana' })).page.content;
    const paths = async (): Promise<string[]> => (await client.call('wiki.pages', {})).pages.map(({ path }) => path);
    const before = await paths();

    const page = await openLinkedPage(at.browser, at.perch);
    await page.goto(`${at.perch.url}/wiki`);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Import into the wiki' });
    await dialog.getByLabel('Choose folder').setInputFiles(join(folder.path, 'vault'));
    await dialog.getByText('2 new pages, 1 unchanged, 1 different, Pictures: 2.').waitFor();
    await dialog.getByText('2 other files will be skipped.').waitFor();
    const row = (path: string) => dialog.getByRole('list', { name: 'Selected files' }).getByRole('listitem').filter({ hasText: path });
    await row('Ana.md').getByText('Different').waitFor();
    await row('entities/Miso.md').getByText('New').waitFor();
    await row('windows.md').getByText('Not UTF-8 text').waitFor();
    expect((await listControls(page)).filter((each) => each.endsWith(' ""'))).toEqual([]);
    await takeScreenshots(page, 'chosen');
    // So far nothing is written.
    expect(await paths()).toEqual(before);

    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    const done = dialog.getByRole('list', { name: 'Import result' });
    await done.getByText('1 page added').waitFor();
    await done.getByText('1 page not overwritten').waitFor();
    await done.getByText('Pictures: 1').waitFor();
    await dialog.getByRole('list', { name: 'Problems' }).getByText('con.md').waitFor();
    await takeScreenshots(page, 'done');
    expect((await client.call('wiki.page', { path: 'entities/Miso' })).page).toMatchObject({
      tags: ['cat'],
      content: 'A black cat of [[Ana]].\n',
    });
    expect(await ana()).toBe('Ana, as she is here.\n');
    await dialog.getByRole('button', { name: 'Undo import' }).click();
    await dialog.getByText('Import undone').waitFor();
    expect(await paths()).toEqual(before);
    expect((await client.call('workspace.list', { under: 'wiki/img' })).files).toEqual([]);
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();

    // Over what is here, where that is asked for; and that, too, is taken back.
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await dialog.getByLabel('Choose files').setInputFiles([join(folder.path, 'vault/Ana.md')]);
    await dialog.getByLabel('Overwrite pages that are different').check();
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await done.getByText('1 page replaced').waitFor();
    expect(await ana()).toBe('Ana keeps [[Miso]].\n');
    await dialog.getByRole('button', { name: 'Undo import' }).click();
    await dialog.getByText('Import undone').waitFor();
    expect((await client.call('wiki.page', { path: 'Ana' })).page).toMatchObject({ content: 'Ana, as she is here.\n', tags: ['person'] });
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('wiki.app/import-products', 'a zip of notes: its links lead to pages, its pictures are shown', async () => {
    const zip = new ZipWriter(new Uint8ArrayWriter());
    await zip.add('vault/A.md', new TextReader('# A\n\n[to b](B%20page.md) and [[../vault/B page]]\n\n![[miso.png]]\n'));
    await zip.add('vault/B page.md', new TextReader('# B\n'));
    await zip.add('vault/img/miso.png', new Uint8ArrayReader(new Uint8Array(createWhitePng(40, 30))));
    const page = await at.browser.page(`${at.perch.url}/wiki`);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Import into the wiki' });
    const buffer = Buffer.from(await zip.close());
    await dialog
      .getByLabel('Choose files')
      .setInputFiles([{ name: 'cut.zip', mimeType: 'application/zip', buffer: buffer.subarray(0, 200) }]);
    await dialog.getByText('cut.zip wasn’t imported: the zip file is damaged').waitFor();
    await dialog.getByLabel('Choose files').setInputFiles([{ name: 'vault.zip', mimeType: 'application/zip', buffer }]);
    await dialog.getByText('2 new pages').waitFor();
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await dialog.getByText('2 pages added').waitFor();
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await page.goto(`${at.perch.url}/wiki?page=A.md`);
    await page.locator('.text img').waitFor();
    await takeScreenshots(page, 'picture');
    await page.getByRole('link', { name: 'to b' }).click();
    await page.getByRole('heading', { name: 'B', exact: true }).first().waitFor();
    await page.locator('aside').getByRole('link', { name: 'A', exact: true }).waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('wiki.app/import', 'claims as they were exported, and what of them cannot be read', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const page = await at.browser.page(`${at.perch.url}/wiki?view=claims`);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Import into the wiki' });
    const buffer = Buffer.from(`${JSON.stringify({ id: 'claim-ten', ...CLAIM })}\n{"broken\n`);
    await dialog.getByLabel('Choose files').setInputFiles([{ name: 'claims.jsonl', mimeType: 'application/jsonl', buffer }]);
    await dialog.getByText('1 claims file').waitFor();
    await dialog.getByRole('button', { name: 'Import', exact: true }).last().click();
    await dialog.getByText('1 claim added').waitFor();
    await dialog.getByText('claims.jsonl, line 2').waitFor();
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await page.getByRole('list', { name: 'Claims' }).getByText('Miso is ten years old.').waitFor();
    expect((await client.call('wiki.claims', {})).count).toBe(1);
    await page.close();
  });
});
