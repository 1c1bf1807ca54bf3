import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { findLowContrast, findOverflow, waitForNoProblems } from './accessibility.ts';
import { useReplyFixture, sendMessage, replies } from './reply-fixture.ts';
import { waitForConnection, LINKED_STATUS } from './connection-status.ts';
import { takeScreenshots } from './take-screenshots.ts';

const more = async (page: Page, item: string): Promise<void> => {
  await page.getByRole('button', { name: 'More actions for this reply' }).last().click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
};

describe('usage of a reply', () => {
  const at = useReplyFixture([], { context_length: 1000, pricing: { prompt: '0.000001', completion: '0.000002' } });

  verifies(['app/spent', 'app/more'], 'tokens, cost and context; its details, copies and a chat from there', async () => {
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    expect(await page.getByRole('button', { name: /^Context:/ }).count()).toBe(0);
    at.model.queueReply('**Owls** fly.\n\n- by night', {
      ...{ prompt_tokens: 600, completion_tokens: 100, total_tokens: 700 },
      prompt_tokens_details: { cached_tokens: 450, cache_write_tokens: 50 },
    });
    await sendMessage(page, 'What flies?');
    await replies(page).getByText('700 tokens · $0.0008').waitFor();
    await page.getByRole('button', { name: 'Context: 70% full' }).click();
    const context = page.getByRole('dialog', { name: 'Context' });
    await context.getByText('1,000 tokens').waitFor();
    expect(await context.innerText()).toMatch(/This chat\s+700 tokens/);
    expect(await context.innerText()).toMatch(/Input from cache\s+450 tokens · 75%/);
    await takeScreenshots(page, 'context');
    expect(await waitForNoProblems(() => findLowContrast(page), 'context')).toEqual([]);
    await page.getByRole('button', { name: 'Summarise now' }).click();
    await page.getByText(/is too short to summarise/).waitFor();

    await more(page, 'Details');
    const details = page.getByRole('dialog', { name: 'Reply details' });
    expect(await details.innerText()).toMatch(
      /Input tokens\s+600\s+Cached input\s+450\s+Written to cache\s+50\s+Output tokens\s+100\s+Token count\s+From the provider\s+Cost\s+\$0\.0008/,
    );
    await takeScreenshots(page, 'details');
    expect(await waitForNoProblems(() => findOverflow(page), 'too wide')).toEqual([]);
    await page.keyboard.press('Escape');
    await details.waitFor({ state: 'detached' });

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const clipboard = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
    await more(page, 'Copy as Markdown');
    await waitFor(async () => (await clipboard()) === '**Owls** fly.\n\n- by night', 'the Markdown');
    await more(page, 'Copy as plain text');
    await waitFor(async () => /^Owls fly\.\s+by night$/.test(await clipboard()), 'the text');
    await more(page, 'Copy link');
    await waitFor(async () => (await clipboard()).startsWith(`${page.url()}#message-`), 'the link');

    const first = page.url();
    await more(page, 'Branch in new chat');
    await page.waitForURL((url) => url.href !== first);
    await replies(page).getByText('fly.').waitFor();
    at.model.queueReply('And bats.');
    await sendMessage(page, 'What else?');
    await replies(page).getByText('And bats.').waitFor();
    await page.goto(first);
    await replies(page).getByText('fly.').waitFor();
    expect(await page.getByText('And bats.').count()).toBe(0);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('app/more', 'a reply without a word is not copied, and what was copied before stays', async () => {
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.evaluate(() => navigator.clipboard.writeText('Mine'));
    at.model.queueReply('');
    await sendMessage(page, 'Say nothing.');
    await replies(page).getByText('The model sent an empty reply.').waitFor();
    expect(await replies(page).getByRole('button', { name: 'Copy reply' }).count()).toBe(0);
    await page.keyboard.press('ControlOrMeta+Shift+C');
    await more(page, 'Copy as Markdown');
    await more(page, 'Copy as plain text');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('Mine');
    await page.close();
  });
});
