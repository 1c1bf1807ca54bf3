import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { listControls } from './accessibility.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

const getTextField = (page: Page) => page.getByRole('textbox', { name: /^Text/ });
const getStoredDraft = (page: Page) => page.getByRole('status').filter({ hasText: 'Draft saved in this browser' }).waitFor();
const newer = (page: Page) => page.getByRole('group', { name: 'Current version' });

describe('drafts of the wiki', () => {
  const at = useGatewayAndBrowser();

  verifies('wiki.app/drafts', 'a draft outlives a reload, and tells that the page was changed meanwhile', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const save = (content: string) => client.call('wiki.savePage', { path: 'entities/Miso', content });
    await save('A black cat.\n');
    const page = await openLinkedPage(at.browser, at.perch);
    await page.goto(`${at.perch.url}/wiki?page=entities%2FMiso.md&edit`);
    await getTextField(page).fill('A black cat with white paws.\n');
    await getStoredDraft(page);
    await page.reload();
    await waitForConnection(page, LINKED_STATUS);
    await waitFor(async () => (await getTextField(page).inputValue()) === 'A black cat with white paws.\n', 'the draft to be back');
    expect(await newer(page).count()).toBe(0);

    // While one looks, and by an address that is opened later.
    await save('A grey cat.\n');
    await newer(page).getByText('A grey cat.').waitFor();
    await page.reload();
    await waitForConnection(page, LINKED_STATUS);
    await newer(page).getByText('A grey cat.').waitFor();
    expect(await getTextField(page).inputValue()).toBe('A black cat with white paws.\n');
    expect((await listControls(page)).filter((each) => each.endsWith(' ""'))).toEqual([]);
    await takeScreenshots(page, 'changed');
    // Nothing is written over unasked.
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').getByText('ABORTED').waitFor({ state: 'attached' });
    expect((await client.call('wiki.page', { path: 'entities/Miso' })).page.content).toBe('A grey cat.\n');
    await newer(page).getByRole('button', { name: 'Save my version' }).click();
    await page.getByRole('article', { name: 'Miso' }).getByText('white paws').waitFor();
    // The draft is gone, also after a reload.
    await page.goto(`${at.perch.url}/wiki?page=entities%2FMiso.md&edit`);
    await waitFor(async () => (await getTextField(page).inputValue()).includes('white paws'), 'the page');
    expect(await page.getByRole('list', { name: 'Drafts' }).count()).toBe(0);
    // A field without edits follows the page.
    await save('A cat of another colour.\n');
    await waitFor(async () => (await getTextField(page).inputValue()) === 'A cat of another colour.\n', 'the page as it is now');
    await page.close();
  });

  verifies('wiki.app/drafts', 'a new page is found again in another tab; what was discarded can be had back', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await client.call('wiki.savePage', { path: 'Ana', content: 'Ana.\n' });
    const first = await at.browser.page(`${at.perch.url}/wiki?page&edit`);
    await waitForConnection(first, LINKED_STATUS);
    await first.getByLabel('Path').fill('concepts/Tea');
    await getTextField(first).fill('Green, at 70 degrees.\n');
    await getStoredDraft(first);
    await first.close();

    const page = await at.browser.page(`${at.perch.url}/wiki`);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByRole('list', { name: 'Drafts' }).getByRole('link', { name: 'concepts/Tea' }).click();
    await page.getByRole('group', { name: 'Draft from another tab' }).getByRole('button', { name: 'Use this draft' }).click();
    expect(await getTextField(page).inputValue()).toBe('Green, at 70 degrees.\n');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('Draft discarded').waitFor();
    expect(await page.getByRole('list', { name: 'Drafts' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await waitFor(async () => (await getTextField(page).inputValue()) === 'Green, at 70 degrees.\n', 'the draft to be back');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('article', { name: 'Tea' }).getByText('70 degrees').waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
