import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { startUpstream } from '../upstream.ts';
import { linkedPage } from './connected.ts';
import { addProvider, connectOutside } from './outside.ts';
import { served } from './served.ts';
import { shoot } from './shoot.ts';

const LONG = Array.from({ length: 100 }, (_, at) => `Line ${at} of the log: größer than “ever” 🐦`).join('\n');

const message = (page: Page) => page.getByRole('textbox', { name: 'Message' });

/** As the browser pastes it: what the page leaves to it goes in at the caret. */
const paste = async (page: Page, text: string): Promise<void> => {
  await page.evaluate((copied) => navigator.clipboard.writeText(copied), text);
  await message(page).press('ControlOrMeta+v');
};

describe('a long pasted text', () => {
  const at = served();

  verifies(
    'app/long-paste',
    'becomes a file, is there after a reload, goes into the text on demand, and is read by the model',
    async () => {
      await using upstream = await startUpstream({ models: ['normal'] });
      const page = await linkedPage(at.browser, at.perch);
      using outside = await connectOutside(at.perch);
      await addProvider(outside.client, upstream.url);
      await outside.client.call('config.patch', { patch: { agents: { main: { model: 'local/normal' } } } });
      await at.browser.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: at.perch.url });

      await paste(page, 'A short one');
      expect(await message(page).inputValue()).toBe('A short one');
      await message(page).fill('Before. After.');
      await paste(page, LONG);
      await page.getByText('pasted-text.txt').waitFor();
      await paste(page, LONG);
      await page.getByText('pasted-text-2.txt').waitFor();
      expect(await message(page).inputValue()).toBe('Before. After.');
      await shoot(page, 'pasted');
      await page.reload();
      await page.getByText('pasted-text-2.txt').waitFor();

      await message(page).evaluate((area: HTMLTextAreaElement) => area.setSelectionRange(8, 8));
      const second = page.getByRole('listitem').filter({ hasText: 'pasted-text-2.txt' });
      await second.getByRole('button', { name: 'Insert as text' }).click();
      await second.waitFor({ state: 'detached' });
      expect(await message(page).inputValue()).toBe(`Before. ${LONG}After.`);
      expect(await message(page).evaluate((area: HTMLTextAreaElement) => area.selectionStart)).toBe(8 + LONG.length);

      await message(page).fill('What stands there?');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.waitForURL(/\/chat\//);
      const asked = () => upstream.requests.filter(({ method }) => method === 'POST');
      await until(() => asked().length > 0, 'the upstream to be asked');
      const body = JSON.stringify(asked()[0]?.body);
      expect(body).toContain('pasted-text.txt');
      expect(body).toContain(JSON.stringify(LONG).slice(1, -1));
      expect(at.browser.complaints).toEqual([]);
      await page.close();
    },
  );
});
