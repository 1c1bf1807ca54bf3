import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { findLowContrast, findOverflow, waitForNoProblems } from './accessibility.ts';
import { useReplyFixture, sendMessage, replies } from './reply-fixture.ts';
import { waitForConnection, LINKED_STATUS } from './connection-status.ts';
import { getPaletteOptions, openPalette } from './palette.ts';
import { takeScreenshots } from './take-screenshots.ts';

const pager = (page: Page, name: string) => page.getByRole('group', { name, exact: true });
const earlier = (page: Page, name: string) => pager(page, name).getByRole('button', { name: 'Previous version' });
const later = (page: Page, name: string) => pager(page, name).getByRole('button', { name: 'Next version' });
const focused = (page: Page): Promise<string | null> =>
  page.evaluate(() => `${document.activeElement?.ariaLabel} in ${document.activeElement?.parentElement?.ariaLabel}`);

describe('versions of a message', () => {
  const at = useReplyFixture();

  verifies(
    ['app/versions', 'chat.branch/chooses', 'chat.edit/earlier', 'chat.resend/earlier'],
    'of a reply and of a message, by pointer and by keys, in two tabs',
    async () => {
      const page = await at.page('The first answer.');
      await page.waitForURL(/\/chat\//);
      expect(await page.getByRole('group', { name: /^Version/ }).count()).toBe(0);
      for (const answer of ['The second answer.', 'The third answer.']) {
        at.model.queueReply(answer);
        await page.getByRole('button', { name: 'Regenerate' }).click();
        await replies(page).getByText(answer).waitFor();
      }
      await earlier(page, 'Version 3 of 3').click();
      await replies(page).getByText('The second answer.').waitFor();
      await waitFor(async () => (await focused(page)) === 'Previous version in Version 2 of 3', 'the focus to follow');
      await page.keyboard.press('Enter');
      await replies(page).getByText('The first answer.').waitFor();
      await waitFor(async () => (await focused(page)) === 'Previous version in Version 1 of 3', 'the focus to follow');
      // At the end there is nothing more, and the keyboard's place is kept.
      await page.keyboard.press('Enter');
      expect(await focused(page)).toBe('Previous version in Version 1 of 3');
      await page.locator('[aria-live]').getByText('Version 1 of 3', { exact: true }).waitFor({ state: 'attached' });

      const two = await at.browser.page(page.url());
      await waitForConnection(two, LINKED_STATUS);
      await replies(two).getByText('The first answer.').waitFor();
      await later(two, 'Version 1 of 3').click();
      await replies(page).getByText('The second answer.').waitFor();
      await two.close();

      at.model.queueReply('It goes on there.');
      await sendMessage(page, 'Go on');
      await replies(page).getByText('It goes on there.').waitFor();
      expect(await replies(page).first().innerText()).toContain('The second answer.');
      at.model.queueReply('And elsewhere.');
      await page.getByRole('button', { name: 'Edit message' }).last().click();
      await page.getByLabel('Edit your message').fill('Go on elsewhere');
      await page.keyboard.press('Control+Enter');
      await replies(page).getByText('And elsewhere.').waitFor();
      await earlier(page, 'Version 2 of 2').waitFor();
      await takeScreenshots(page, 'versions');
      expect(await waitForNoProblems(() => findOverflow(page), 'too wide')).toEqual([]);
      expect(await waitForNoProblems(() => findLowContrast(page), 'versions')).toEqual([]);
      await earlier(page, 'Version 2 of 2').click();
      await replies(page).getByText('It goes on there.').waitFor();
      expect(await page.getByText('Go on elsewhere').count()).toBe(0);

      await page.reload();
      await replies(page).getByText('It goes on there.').waitFor();
      // While a reply is written there is no choice.
      const answer = at.model.beginReply();
      await sendMessage(page, 'Slowly');
      await answer.sendText('Well, ');
      await replies(page).getByText('Well,').waitFor();
      await earlier(page, 'Version 2 of 3').hover();
      expect(await earlier(page, 'Version 2 of 3').getAttribute('aria-disabled')).toBe('true');
      await answer.end();
      // An earlier message too: its form is wholly in sight, what is asked anew is, and all that followed stays as a version.
      at.model.queueReply('Quite another answer.');
      const mine = page.getByRole('article', { name: 'Your message' });
      await mine.first().hover();
      await mine.first().getByRole('button', { name: 'Edit message' }).click();
      await page.getByLabel('Edit your message').fill('Something else');
      await page.getByRole('button', { name: 'Send', exact: true }).first().click({ trial: true });
      await page.keyboard.press('Control+Enter');
      await replies(page).getByText('Quite another answer.').waitFor();
      expect(await mine.allInnerTexts()).toEqual([expect.stringContaining('Something else')]);
      await earlier(page, 'Version 2 of 2').first().click();
      await replies(page).getByText('It goes on there.').waitFor();
      // And an earlier reply can be made again: in both tabs what followed it is gone while it is written.
      const other = await at.browser.page(page.url());
      await replies(other).getByText('It goes on there.').waitFor();
      const anew = at.model.beginReply();
      await replies(page).first().hover();
      await replies(page).first().getByRole('button', { name: 'Regenerate' }).click();
      await anew.sendText('Once more, ');
      for (const tab of [page, other]) {
        await replies(tab).getByText('Once more,').waitFor();
        await waitFor(async () => (await tab.getByRole('article').count()) === 2, 'the message and its new reply alone');
      }
      await anew.sendText('from the beginning.');
      await anew.end();
      for (const tab of [page, other]) {
        await replies(tab).getByText('Once more, from the beginning.').waitFor();
        await earlier(tab, 'Version 4 of 4').waitFor();
        expect(await tab.getByRole('article').count()).toBe(2);
      }
      await other.close();
      await earlier(page, 'Version 4 of 4').click();
      await pager(page, 'Version 3 of 4').waitFor();
      // A search finds what was said in a version that is not shown, and goes over to it.
      expect(await replies(page).getByText('Quite another answer.').count()).toBe(0);
      const search = await openPalette(page);
      await search.fill('"quite another answer"');
      await getPaletteOptions(page, 'Chats')
        .filter({ hasText: /Quite another answer/ })
        .click();
      await replies(page).getByText('Quite another answer.').waitFor();
      expect(at.browser.complaints).toEqual([]);
      await page.close();
    },
  );
});
