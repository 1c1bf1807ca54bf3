import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { findLowContrast, findOverflow, waitForNoProblems } from './accessibility.ts';
import { replies, sendMessage, useReplyFixture } from './reply-fixture.ts';
import { takeScreenshots } from './take-screenshots.ts';

const card = (page: Page, title: string) => page.locator('.tool').filter({ has: page.locator('summary', { hasText: title }) });

describe('sub-agents', () => {
  const at = useReplyFixture();

  verifies('subagents/app', 'are followed, steered and stopped in their cards, and are no chats of the list', async () => {
    const page = await at.page('Hello.');
    const plan = at.model.beginReply();
    const work = [at.model.beginReply(), at.model.beginReply()];
    await sendMessage(page, 'Count the birds');
    await plan.sendText('I’ll count both.');
    await plan.sendToolCall({ name: 'agent_run', arguments: '{"task":"Count the herons at the lake","title":"Herons"}' });
    await plan.sendToolCall({ name: 'agent_run', arguments: '{"task":"Count the reeds","title":"Reeds"}' });
    await plan.end();
    for (const each of work) await each.sendText('I begin at the north shore.');
    for (const title of ['Herons', 'Reeds']) await card(page, title).getByText('Working').waitFor();
    const herons = card(page, 'Herons');
    await herons.getByRole('button', { name: 'Show work' }).click();
    await herons.getByText('I begin at the north shore.').waitFor();
    await herons.getByText('Count the herons at the lake').last().waitFor();
    await takeScreenshots(page, 'sub-agents');
    expect(await waitForNoProblems(() => findOverflow(page), 'too wide')).toEqual([]);
    expect(await waitForNoProblems(() => findLowContrast(page), 'sub-agents')).toEqual([]);

    await card(page, 'Reeds').getByRole('button', { name: 'Stop Reeds' }).click();
    await card(page, 'Reeds').getByText('Stopped', { exact: true }).first().waitFor();
    at.model.queueReply('There are three herons.');
    at.model.queueReply('Three herons; the reeds were not counted.');
    await herons.getByRole('textbox', { name: 'Message to Herons' }).fill('Only the north shore');
    await page.keyboard.press('Enter');
    await herons.getByText('There are three herons.').filter({ visible: true }).first().waitFor();
    await replies(page).getByText('Three herons; the reeds were not counted.').waitFor();
    await herons.getByText('Only the north shore').waitFor();
    await takeScreenshots(page, 'sub-agents-done');

    const chats = page.getByRole('navigation').getByRole('link');
    expect((await chats.allInnerTexts()).filter((text) => text.includes('Herons'))).toEqual([]);
    const chat = page.url();
    await herons.getByRole('link', { name: 'Open the chat of Herons' }).click();
    await page.getByRole('heading', { name: 'Herons' }).waitFor();
    await page.getByRole('link', { name: 'Back to the main chat' }).click();
    await page.waitForURL(chat);
    // After a reload the cards are as they were.
    await page.reload();
    await card(page, 'Reeds').getByText('Stopped', { exact: true }).first().waitFor();
    expect(at.browser.complaints).toEqual([]);
  });
});
