import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { findOverflow, waitForNoProblems } from './accessibility.ts';
import { runAxe } from './axe.ts';
import { LINKED_STATUS, waitForConnection } from './connection-status.ts';
import { dropFiles } from './drop-files.ts';
import { replies, sendMessage, useReplyFixture } from './reply-fixture.ts';
import { takeScreenshots } from './take-screenshots.ts';

const CLAIM = 'The north bank was surveyed on 3 May, and 42 herons were counted.';

describe('collections', () => {
  const at = useReplyFixture();
  const parent = mkdtempSync(join(tmpdir(), 'perch-collections-'));
  const folder = join(parent, 'Heron survey');
  afterAll(() => rmSync(parent, { recursive: true }));

  verifies('app/collections', 'a dropped folder becomes a collection that answers cite', async () => {
    for (const path of ['north', '.git', 'node_modules']) mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(join(folder, 'north', 'survey.md'), `# Surveys\n\n## North bank\n\n${CLAIM}\n`);
    writeFileSync(join(folder, 'weather.txt'), 'It rained on the last day of April.');
    writeFileSync(join(folder, 'broken.pdf'), '%PDF-1.7 and nothing else');
    for (const path of ['.git/config', 'node_modules/x.js', 'clip.mp4']) writeFileSync(join(folder, path), 'left out');
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);

    await dropFiles(page, [folder]);
    const question = page.getByRole('dialog', { name: 'Add 3 files to a collection?' });
    await question.getByText('1 file left out').waitFor();
    expect(await question.getByRole('textbox', { name: 'Name of the collection' }).inputValue()).toBe('Heron survey');
    await takeScreenshots(page, 'folder-question');
    await question.getByRole('button', { name: 'Add', exact: true }).click();
    const attached = page.getByRole('list', { name: 'Attached collections' });
    await attached.getByRole('link', { name: 'Heron survey' }).waitFor();
    await attached.getByText('%').waitFor({ state: 'detached' });

    const call = at.model.beginReply();
    at.model.queueReply(`${CLAIM.slice(0, -1)} [1].`);
    await sendMessage(page, 'When was the north bank surveyed?');
    await call.sendToolCall({ name: 'collection_search', arguments: JSON.stringify({ query: 'north bank survey' }) });
    await call.end();
    await replies(page).getByRole('button', { name: 'Source 1: Surveys' }).click();
    const viewer = page.getByRole('dialog', { name: 'Surveys' });
    const marked = viewer.locator('mark').filter({ hasText: '42 herons' });
    await marked.waitFor();
    await page.keyboard.press('Escape');

    await attached.getByRole('link', { name: 'Heron survey' }).click();
    const table = page.getByRole('table', { name: 'Documents' });
    await table.getByRole('row', { name: 'broken.pdf' }).getByText('Failed').waitFor();
    expect(await table.getByRole('row').count()).toBe(4);
    await page.getByRole('button', { name: '1 failed' }).click();
    await page.getByText('Surveys').waitFor({ state: 'detached' });
    await takeScreenshots(page, 'documents');
    for (const view of ['Documents', 'Sources', 'Settings', 'Search']) {
      await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view }).click();
      expect(await waitForNoProblems(() => runAxe(page), view)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 780 });
      expect(await waitForNoProblems(() => findOverflow(page), view)).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 800 });
    }
    await page.getByRole('textbox', { name: 'Search “Heron survey”' }).fill('herons counted');
    await page.getByRole('list', { name: 'Passages' }).getByRole('button').first().click();
    await marked.waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
