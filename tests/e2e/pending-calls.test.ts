import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { answered, ask, replies } from './answered.ts';
import { connected, LINKED } from './connected.ts';
import { shoot } from './shoot.ts';

describe('a tool call being written', () => {
  const at = answered();

  verifies('app/tool-card', 'is in sight from its first piece, and after a reload; then it runs, and what it gave is there', async () => {
    const page = await at.browser.page(at.perch.url);
    await connected(page, LINKED);
    const card = replies(page).locator('.tool');
    const answer = at.model.begin();
    await ask(page, 'What time is it?');
    await answer.more('Let me look.');
    await answer.call({ name: 'current_time', arguments: '{"timeZone"' });
    await card.getByText('Queued').waitFor();
    await card.getByText('Get current time').waitFor();
    await shoot(page, 'pending');
    await page.reload();
    await connected(page, LINKED);
    await card.getByText('Queued').waitFor();
    await answer.call({ arguments: ':"UTC"}' });
    at.model.answer('Noon.');
    await answer.end();
    await replies(page).getByText('Noon.').waitFor();
    expect(await card.count()).toBe(1);
    await card.getByText('Done').waitFor();
    await page.close();
  });

  verifies('app/tool-card', 'goes with the reply where that is stopped before it is whole', async () => {
    const page = await at.browser.page(at.perch.url);
    await connected(page, LINKED);
    const answer = at.model.begin();
    await ask(page, 'And now?');
    await answer.more('Again.');
    await answer.call({ name: 'current_time', arguments: '' });
    const last = replies(page).last();
    await last.getByText('Queued').waitFor();
    await page.keyboard.press('Escape');
    await last.getByText('Stopped').waitFor();
    expect(await last.locator('.tool').count()).toBe(0);
    await page.close();
  });
});
