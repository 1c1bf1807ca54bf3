import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { operable } from './accessibility.ts';
import { connected, LINKED, linkedPage } from './connected.ts';
import { connectOutside } from './outside.ts';
import { served } from './served.ts';
import { shoot } from './shoot.ts';

const textOf = (page: Page) => page.getByRole('textbox', { name: /^Text/ });
const kept = (page: Page) => page.getByRole('status').filter({ hasText: 'Draft saved in this browser' }).waitFor();
const newer = (page: Page) => page.getByRole('group', { name: 'Current version' });

describe('drafts of the wiki', () => {
  const at = served();

  verifies('wiki.app/drafts', 'a draft outlives a reload, and tells that the page was changed meanwhile', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const save = (content: string) => client.call('wiki.savePage', { path: 'entities/Miso', content });
    await save('A black cat.\n');
    const page = await linkedPage(at.browser, at.perch);
    await page.goto(`${at.perch.url}/wiki?page=entities%2FMiso.md&edit`);
    await textOf(page).fill('A black cat with white paws.\n');
    await kept(page);
    await page.reload();
    await connected(page, LINKED);
    await until(async () => (await textOf(page).inputValue()) === 'A black cat with white paws.\n', 'the draft to be back');
    expect(await newer(page).count()).toBe(0);

    // While one looks, and by an address that is opened later.
    await save('A grey cat.\n');
    await newer(page).getByText('A grey cat.').waitFor();
    await page.reload();
    await connected(page, LINKED);
    await newer(page).getByText('A grey cat.').waitFor();
    expect(await textOf(page).inputValue()).toBe('A black cat with white paws.\n');
    expect((await operable(page)).filter((each) => each.endsWith(' ""'))).toEqual([]);
    await shoot(page, 'changed');
    // Nothing is written over unasked.
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').getByText('ABORTED').waitFor({ state: 'attached' });
    expect((await client.call('wiki.page', { path: 'entities/Miso' })).page.content).toBe('A grey cat.\n');
    await newer(page).getByRole('button', { name: 'Save my version' }).click();
    await page.getByRole('article', { name: 'Miso' }).getByText('white paws').waitFor();
    // The draft is gone, also after a reload.
    await page.goto(`${at.perch.url}/wiki?page=entities%2FMiso.md&edit`);
    await until(async () => (await textOf(page).inputValue()).includes('white paws'), 'the page');
    expect(await page.getByRole('list', { name: 'Drafts' }).count()).toBe(0);
    // A field without edits follows the page.
    await save('A cat of another colour.\n');
    await until(async () => (await textOf(page).inputValue()) === 'A cat of another colour.\n', 'the page as it is now');
    await page.close();
  });

  verifies('wiki.app/drafts', 'a new page is found again in another tab; what was discarded can be had back', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await client.call('wiki.savePage', { path: 'Ana', content: 'Ana.\n' });
    const first = await at.browser.page(`${at.perch.url}/wiki?page&edit`);
    await connected(first, LINKED);
    await first.getByLabel('Path').fill('concepts/Tea');
    await textOf(first).fill('Green, at 70 degrees.\n');
    await kept(first);
    await first.close();

    const page = await at.browser.page(`${at.perch.url}/wiki`);
    await connected(page, LINKED);
    await page.getByRole('list', { name: 'Drafts' }).getByRole('link', { name: 'concepts/Tea' }).click();
    await page.getByRole('group', { name: 'Draft from another tab' }).getByRole('button', { name: 'Use this draft' }).click();
    expect(await textOf(page).inputValue()).toBe('Green, at 70 degrees.\n');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('Draft discarded').waitFor();
    expect(await page.getByRole('list', { name: 'Drafts' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await until(async () => (await textOf(page).inputValue()) === 'Green, at 70 degrees.\n', 'the draft to be back');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('article', { name: 'Tea' }).getByText('70 degrees').waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
