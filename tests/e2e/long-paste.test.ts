import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream } from '../test-upstream.ts';
import { openLinkedPage } from './connection-status.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

const LONG_TEXT = Array.from({ length: 100 }, (_, at) => `Line ${at} of the log: größer than “ever” 🐦`).join('\n');

const message = (page: Page) => page.getByRole('textbox', { name: 'Message' });

/** As the browser pastes it: what the page leaves to it goes in at the caret. */
const pasteText = async (page: Page, text: string): Promise<void> => {
  await page.evaluate((copied) => navigator.clipboard.writeText(copied), text);
  await message(page).press('ControlOrMeta+v');
};

describe('a long pasted text', () => {
  const at = useGatewayAndBrowser();

  verifies(
    'app/long-paste',
    'becomes a file, is there after a reload, goes into the text on demand, and is read by the model',
    async () => {
      await using upstream = await startUpstream({ models: ['normal'] });
      const page = await openLinkedPage(at.browser, at.perch);
      using outside = await connectOutside(at.perch);
      await addProvider(outside.client, upstream.url);
      await outside.client.call('config.patch', { patch: { agents: { main: { model: 'local/normal' } } } });
      await at.browser.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: at.perch.url });

      await pasteText(page, 'A short one');
      expect(await message(page).inputValue()).toBe('A short one');
      await message(page).fill('Before. After.');
      await pasteText(page, LONG_TEXT);
      await page.getByText('pasted-text.txt').waitFor();
      await pasteText(page, LONG_TEXT);
      await page.getByText('pasted-text-2.txt').waitFor();
      expect(await message(page).inputValue()).toBe('Before. After.');
      await takeScreenshots(page, 'pasted');
      await page.reload();
      await page.getByText('pasted-text-2.txt').waitFor();

      await message(page).evaluate((area: HTMLTextAreaElement) => area.setSelectionRange(8, 8));
      const second = page.getByRole('listitem').filter({ hasText: 'pasted-text-2.txt' });
      await second.getByRole('button', { name: 'Insert as text' }).click();
      await second.waitFor({ state: 'detached' });
      expect(await message(page).inputValue()).toBe(`Before. ${LONG_TEXT}After.`);
      expect(await message(page).evaluate((area: HTMLTextAreaElement) => area.selectionStart)).toBe(8 + LONG_TEXT.length);

      await message(page).fill('What stands there?');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.waitForURL(/\/chat\//);
      const getPosts = () => upstream.requests.filter(({ method }) => method === 'POST');
      await waitFor(() => getPosts().length > 0, 'the upstream to be asked');
      const body = JSON.stringify(getPosts()[0]?.body);
      expect(body).toContain('pasted-text.txt');
      expect(body).toContain(JSON.stringify(LONG_TEXT).slice(1, -1));
      expect(at.browser.complaints).toEqual([]);
      await page.close();
    },
  );
});
