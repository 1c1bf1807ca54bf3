import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { useReplyFixture, sendMessage, replies } from './reply-fixture.ts';
import { waitForConnection, LINKED_STATUS } from './connection-status.ts';
import { takeScreenshots } from './take-screenshots.ts';

describe('a tool call being written', () => {
  const at = useReplyFixture();

  verifies('app/tool-card', 'is in sight from its first piece, and after a reload; then it runs, and what it gave is there', async () => {
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    const card = replies(page).locator('.tool');
    const answer = at.model.beginReply();
    await sendMessage(page, 'What time is it?');
    await answer.sendText('Let me look.');
    await answer.sendToolCall({ name: 'current_time', arguments: '{"timeZone"' });
    await card.getByText('Queued').waitFor();
    await card.getByText('Get current time').waitFor();
    await takeScreenshots(page, 'pending');
    await page.reload();
    await waitForConnection(page, LINKED_STATUS);
    await card.getByText('Queued').waitFor();
    await answer.sendToolCall({ arguments: ':"UTC"}' });
    at.model.queueReply('Noon.');
    await answer.end();
    await replies(page).getByText('Noon.').waitFor();
    expect(await card.count()).toBe(1);
    await card.getByText('Done').waitFor();
    await page.close();
  });

  verifies('app/tool-card', 'goes with the reply where that is stopped before it is whole', async () => {
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    const answer = at.model.beginReply();
    await sendMessage(page, 'And now?');
    await answer.sendText('Again.');
    await answer.sendToolCall({ name: 'current_time', arguments: '' });
    const last = replies(page).last();
    await last.getByText('Queued').waitFor();
    await page.keyboard.press('Escape');
    await last.getByText('Stopped').waitFor();
    expect(await last.locator('.tool').count()).toBe(0);
    await page.close();
  });
});
