import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { findLowContrast, findOverflow, waitForNoProblems } from './accessibility.ts';
import { useReplyFixture, sendMessage, replies } from './reply-fixture.ts';
import { waitForConnection, LINKED_STATUS } from './connection-status.ts';
import { takeScreenshots } from './take-screenshots.ts';

describe('reasoning of a model', () => {
  const at = useReplyFixture();

  verifies('app/reasoning', 'a model that answers nothing, or only thinks, is said to', async () => {
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    at.model.queueReply('');
    await sendMessage(page, 'Anything?');
    await replies(page).getByText('The model sent an empty reply.').waitFor();
    const answer = at.model.beginReply();
    await sendMessage(page, 'And now?');
    await answer.sendReasoning('What could be said?');
    await answer.end();
    await replies(page).nth(1).getByText('The model sent an empty reply.').waitFor();
    await takeScreenshots(page, 'nothing');
    await page.close();
  });

  verifies('app/reasoning', 'in sight while it comes, one line then, and inside it Markdown that runs nothing', async () => {
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    const answer = at.model.beginReply();
    await sendMessage(page, 'Which bird?');
    await answer.sendReasoning('The person asks for a bird. **Owls** are likely.\n\n');
    const block = replies(page).locator('details');
    await block.getByText('Thinking…').waitFor();
    const tail = replies(page).locator('.tail');
    await tail.getByText('Owls').waitFor();
    expect(await tail.getAttribute('aria-hidden')).toBe('true');
    expect(await page.locator('[aria-live], [role=status]').filter({ hasText: 'Owls' }).count()).toBe(0);
    await answer.sendReasoning('<img src="http://203.0.113.1/a.png" onerror="window.hacked=1"> So, an owl. '.repeat(4));
    await tail.getByText('So, an owl.').waitFor();
    await takeScreenshots(page, 'thinking');
    // A page that is opened now shows the reasoning so far.
    await page.reload();
    await waitForConnection(page, LINKED_STATUS);
    await tail.getByText('So, an owl.').waitFor();
    await answer.sendText('An owl.');
    await block.getByText('Thought for ').waitFor();
    await answer.end();
    await replies(page).getByText('An owl.').waitFor();
    await waitFor(async () => (await tail.count()) === 0, 'the newest lines to go');
    expect(await block.getByText('Owls').count()).toBe(0);

    await page.reload();
    await block.locator('summary').focus();
    await page.keyboard.press('Enter');
    await block.locator('strong').getByText('Owls').waitFor();
    await takeScreenshots(page, 'thought');
    expect(await waitForNoProblems(() => findOverflow(page), 'too wide')).toEqual([]);
    expect(await waitForNoProblems(() => findLowContrast(page), 'thoughts')).toEqual([]);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(at.browser.foreignRequests).toEqual([]);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
