import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { lowContrast, overflowing, remaining } from './accessibility.ts';
import { answered, ask, replies } from './answered.ts';
import { connected, LINKED } from './connected.ts';
import { shoot } from './shoot.ts';

describe('reasoning of a model', () => {
  const at = answered();

  verifies('app/reasoning', 'a model that answers nothing, or only thinks, is said to', async () => {
    const page = await at.browser.page(at.perch.url);
    await connected(page, LINKED);
    at.model.answer('');
    await ask(page, 'Anything?');
    await replies(page).getByText('The model sent an empty reply.').waitFor();
    const answer = at.model.begin();
    await ask(page, 'And now?');
    await answer.think('What could be said?');
    await answer.end();
    await replies(page).nth(1).getByText('The model sent an empty reply.').waitFor();
    await shoot(page, 'nothing');
    await page.close();
  });

  verifies('app/reasoning', 'in sight while it comes, one line then, and inside it Markdown that runs nothing', async () => {
    const page = await at.browser.page(at.perch.url);
    await connected(page, LINKED);
    const answer = at.model.begin();
    await ask(page, 'Which bird?');
    await answer.think('The person asks for a bird. **Owls** are likely.\n\n');
    const block = replies(page).locator('details');
    await block.getByText('Thinking…').waitFor();
    const tail = replies(page).locator('.tail');
    await tail.getByText('Owls').waitFor();
    expect(await tail.getAttribute('aria-hidden')).toBe('true');
    expect(await page.locator('[aria-live], [role=status]').filter({ hasText: 'Owls' }).count()).toBe(0);
    await answer.think('<img src="http://203.0.113.1/a.png" onerror="window.hacked=1"> So, an owl. '.repeat(4));
    await tail.getByText('So, an owl.').waitFor();
    await shoot(page, 'thinking');
    // A page that is opened now shows the reasoning so far.
    await page.reload();
    await connected(page, LINKED);
    await tail.getByText('So, an owl.').waitFor();
    await answer.more('An owl.');
    await block.getByText('Thought for ').waitFor();
    await answer.end();
    await replies(page).getByText('An owl.').waitFor();
    await until(async () => (await tail.count()) === 0, 'the newest lines to go');
    expect(await block.getByText('Owls').count()).toBe(0);

    await page.reload();
    await block.locator('summary').focus();
    await page.keyboard.press('Enter');
    await block.locator('strong').getByText('Owls').waitFor();
    await shoot(page, 'thought');
    expect(await remaining(() => overflowing(page), 'too wide')).toEqual([]);
    expect(await remaining(() => lowContrast(page), 'thoughts')).toEqual([]);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(at.browser.foreignRequests).toEqual([]);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
