import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { listControls } from './accessibility.ts';
import { openLinkedPage } from './connection-status.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openDestination } from './navigate.ts';

describe('the wiki in the app', () => {
  const at = useGatewayAndBrowser();

  verifies('wiki.app/page', 'pages are written, linked, claimed on, disputed, mended and taken back', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    const unnamed = async () => (await listControls(page)).filter((each) => each.endsWith(' ""'));
    await openDestination(page, 'Knowledge', 'Wiki');
    await page.getByText('No wiki pages yet').waitFor();
    expect(await unnamed()).toEqual([]);
    await takeScreenshots(page, 'empty');
    await page.getByRole('link', { name: 'Create first page' }).click();
    await page.getByLabel('Path').fill('entities/Miso');
    await page.getByLabel('Title').fill('Miso');
    await page.getByLabel('Tags').fill('cat, pet');
    const text = page.getByRole('textbox', { name: /^Text/ });
    await text.fill('A **black** cat.\n\n## Whose\n\nShe lives with [[Ana]]; see [[index|the start]].\n\n## Food\n\n`[[Not a link]]`\n');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('region', { name: 'Preview' }).getByRole('link', { name: 'Ana' }).waitFor();
    expect(await unnamed()).toEqual([]);
    await takeScreenshots(page, 'editor');
    await page.getByRole('button', { name: 'Save' }).click();

    const article = page.getByRole('article', { name: 'Miso' });
    await article.getByText('black').waitFor();
    await page.getByRole('navigation', { name: 'Outline' }).getByRole('button', { name: 'Food' }).click();
    await waitFor(async () => (await page.evaluate(() => document.activeElement?.textContent)) === 'Food', 'the heading to be reached');
    // A page that is not there yet is made by its link.
    const missing = article.getByRole('link', { name: 'Ana' });
    expect(await missing.evaluate((link) => getComputedStyle(link).textDecorationStyle)).toBe('dashed');
    await missing.click();
    await text.fill('Ana keeps [[Miso]].\n');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('article', { name: 'Ana' }).getByRole('link', { name: 'Miso' }).click();
    await page.getByRole('region', { name: 'Linked from' }).getByRole('link', { name: 'Ana' }).waitFor();

    const parts = page.getByRole('navigation', { name: 'Wiki views' });
    await parts.getByRole('link', { name: 'Claims' }).click();
    await page.getByText('No claims yet.').waitFor();
    await page.getByRole('combobox', { name: 'Status' }).selectOption({ label: 'Refuted' });
    await page.getByText('No matching claims').waitFor();
    await page.getByRole('combobox', { name: 'Status' }).selectOption({ label: 'All' });
    await page.getByRole('link', { name: 'Choose a page' }).click();
    await page.getByRole('link', { name: 'Miso' }).click();

    for (const [claimText, excerpt] of [
      ['Miso is 10 years old.', 'Miso is ten.'],
      ['Miso is 11 years old.', ''],
    ] as const) {
      await page.getByRole('button', { name: 'Add claim' }).click();
      const form = page.getByRole('dialog', { name: 'Add claim' });
      await form.getByLabel('Claim, in one sentence').fill(claimText);
      await form.getByLabel('Source').fill('Diary');
      await form.getByLabel('Lines').fill('3-4');
      await form.getByLabel('Exact quote').fill(excerpt);
      if (excerpt !== '') await takeScreenshots(page, 'form');
      await form.getByRole('button', { name: 'Save' }).click();
      await article.getByText(claimText).waitFor();
    }
    expect(await unnamed()).toEqual([]);
    await takeScreenshots(page, 'page');

    await parts.getByRole('link', { name: 'Contradictions' }).click();
    const pair = page.getByRole('region', { name: /^Conflicting values for Miso/ });
    const older = pair.getByRole('group', { name: 'Miso is 10 years old.' });
    await older.waitFor();
    expect(await unnamed()).toEqual([]);
    await takeScreenshots(page, 'contradictions');
    await parts.getByRole('link', { name: 'Graph' }).click();
    await page.getByRole('link', { name: 'Miso Contradicted' }).waitFor();
    await page.getByRole('application', { name: /^Graph of 3 pages/ }).press('+');
    expect(await unnamed()).toEqual([]);
    await takeScreenshots(page, 'graph');
    await parts.getByRole('link', { name: 'Contradictions' }).click();
    await older.getByRole('button', { name: 'Replace…' }).click();
    const form = page.getByRole('dialog', { name: 'Replace claim' });
    await form.getByLabel('New claim, in one sentence').fill('Miso is 11 years old.');
    await form.getByLabel('Reason').fill('A birthday.');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('No contradictions found').waitFor();
    // The pair is gone, and the keyboard is where it was.
    await waitFor(() => page.evaluate(() => document.activeElement?.classList.contains('column') ?? false), 'the focus to stay there');

    await parts.getByRole('link', { name: 'Claims' }).click();
    const old = page.getByRole('listitem').filter({ hasText: 'Miso is 10 years old.' });
    await old.getByRole('button', { name: 'History' }).click();
    await old.getByRole('list', { name: 'Claim history' }).getByText('A birthday.').waitFor();
    expect(await unnamed()).toEqual([]);
    await takeScreenshots(page, 'claims');
    await old.getByRole('button', { name: 'Delete' }).click();
    await old.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).first().click();
    await old.waitFor();
    await parts.getByRole('link', { name: 'Health' }).click();
    await page
      .getByText(/No problems found|Stale|Low confidence|Orphaned/)
      .first()
      .waitFor();
    await takeScreenshots(page, 'health');

    // Somebody else changes the page meanwhile: neither text is lost.
    await page.goto(`${at.perch.url}/wiki?page=entities%2FMiso.md&edit`);
    await text.fill('Mine.\n');
    const other = await at.browser.page(`${at.perch.url}/wiki?page=entities%2FMiso.md&edit`);
    const theirs = other.getByRole('textbox', { name: /^Text/ });
    await waitFor(async () => (await theirs.inputValue()).includes('black'), 'the page in the other tab');
    await theirs.fill('Theirs.\n');
    await other.getByRole('button', { name: 'Save' }).click();
    await other.getByRole('article', { name: 'Miso' }).getByText('Theirs.').waitFor();
    await other.close();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const newer = page.getByRole('group', { name: 'Current version' });
    await newer.getByText('Theirs.').waitFor();
    expect(await text.inputValue()).toBe('Mine.\n');
    await takeScreenshots(page, 'conflict');
    await newer.getByRole('button', { name: 'Save my version' }).click();
    await article.getByText('Mine.').waitFor();

    await article.getByRole('button', { name: 'Delete' }).first().click();
    const list = page.getByRole('link', { name: /^Miso/ });
    await list.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).first().click();
    await list.waitFor();
    await page.getByRole('searchbox', { name: 'Search wiki' }).fill('mis');
    await page.getByRole('list', { name: 'Search results' }).getByRole('link', { name: /Miso/ }).first().waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
