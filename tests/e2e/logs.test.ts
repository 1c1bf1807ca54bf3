import { readFileSync } from 'node:fs';
import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import type { GatewayClient } from '../../shared/client/index.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { LINKED_STATUS, waitForConnection, openLinkedPage } from './connection-status.ts';
import { putRows } from './put-rows.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openSettings } from './navigate.ts';

const list = (page: Page) => page.getByRole('listbox', { name: 'Log lines' });
const line = (page: Page, text: string | RegExp) => list(page).getByRole('option').filter({ hasText: text });

/** Has the gateway note that a setting was changed. */
const logSettingChange = (client: GatewayClient, value: string) => client.call('config.set', { key: 'chat.model', value });
/** How often that was noted, as the gateway says. */
const countLogged = async (client: GatewayClient): Promise<number> =>
  (await client.call('logs.tail', { limit: 2_000 })).lines.filter((each) => String(each).includes('chat.model')).length;

const download = async (page: Page, name: string): Promise<{ name: string; text: string }> => {
  await page.getByRole('button', { name: 'Export' }).click();
  const [got] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name }).click()]);
  return { name: got.suggestedFilename(), text: readFileSync(await got.path(), 'utf8') };
};

describe('logs in the app', () => {
  const at = useGatewayAndBrowser();

  verifies(['logs.app/tail', 'logs.app/export'], 'lines come as they are written, wait while paused, and are saved', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await openSettings(page, 'Advanced', 'Logs');
    await line(page, 'Gateway started').first().waitFor();
    const client = await at.perch.client();
    // The first one says no more than `chat`, which there was not.
    await logSettingChange(client, 'guide/guide');
    await logSettingChange(client, 'guide/first');
    await line(page, 'chat.model').waitFor();

    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText(/lines, paused$/).waitFor();
    await logSettingChange(client, 'guide/second');
    await waitFor(async () => (await countLogged(client)) === 2, 'the second to be noted');
    // A reading that was under way when it was paused has ended once another method has answered.
    expect(await line(page, 'chat.model').count()).toBe(1);
    await page.getByRole('button', { name: 'Resume' }).click();
    await line(page, 'chat.model').nth(1).waitFor();

    // A line is told in full.
    await line(page, 'chat.model').first().click();
    const chosen = page.getByRole('region', { name: 'Selected line' });
    await chosen.getByText('chat.model').first().waitFor();
    await takeScreenshots(page, 'chosen');
    await page.keyboard.press('Escape');
    await chosen.waitFor({ state: 'detached' });

    // The file contains the matching lines.
    await page.getByLabel('Search logs').fill('CHAT.MODEL');
    await waitFor(async () => (await list(page).getByRole('option').count()) === 2, 'two lines');
    const { name, text } = await download(page, 'Text');
    expect(name).toMatch(/^perch-.*\.log$/);
    expect(text.trimEnd().split('\n')).toEqual([expect.stringContaining('chat.model'), expect.stringContaining('chat.model')]);
    const json = await download(page, 'JSON Lines');
    const logTail = await client.call('logs.tail', { json: true, limit: 2_000 });
    expect(
      json.text
        .trimEnd()
        .split('\n')
        .map((each) => JSON.parse(each)),
    ).toEqual(logTail.lines.filter((each) => JSON.stringify(each).includes('chat.model')));
    client.close();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies(
    ['logs.app/many', 'logs.app/filter', 'logs.app/tail'],
    '10,000 lines: read by scroll and keys, found, and followed',
    async () => {
      const page = await at.browser.page(`${at.perch.url}/logs`);
      await waitForConnection(page, LINKED_STATUS);
      await line(page, 'Gateway started').first().waitFor();
      const now = Date.now();
      const levels = ['debug', 'info', 'info', 'warn', 'error'];
      await putRows(
        page,
        'logs',
        Array.from({ length: 10_000 }, (_, number) => ({
          ...{ seq: 1_000 + number, at: now + number, level: levels[number % 5], component: `part${number % 3}` },
          ...{ message: number === 5_000 ? `<img src=x onerror=alert(1)> ${'א'.repeat(2_000)}` : `seeded ${number}`, fields: { number } },
        })),
      );
      await page.getByText(/^10,0\d\d lines$/).waitFor();
      await line(page, 'seeded 9999').waitFor();
      // Only the visible lines and a few around them are in the document.
      expect(await list(page).getByRole('option').count()).toBeLessThan(80);
      await takeScreenshots(page, 'many');

      // The visible lines stay in place while others arrive.
      await list(page).focus();
      await page.keyboard.press('Home');
      await line(page, 'seeded 1').first().waitFor();
      await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
      for (let presses = 0; presses < 40; presses++) await page.keyboard.press('ArrowDown');
      const chosen = list(page).getByRole('option', { selected: true });
      const before = { text: await chosen.innerText(), y: (await chosen.boundingBox())?.y };
      expect(await list(page).getAttribute('aria-activedescendant')).toBe(await chosen.getAttribute('id'));
      await putRows(page, 'logs', [{ seq: 11_000, at: now + 10_000, level: 'warn', component: 'late', message: 'the latest' }]);
      await page.getByRole('combobox', { name: 'Component' }).getByRole('option', { name: 'late' }).waitFor({ state: 'attached' });
      expect({ text: await chosen.innerText(), y: (await chosen.boundingBox())?.y }).toEqual(before);
      await page.getByRole('button', { name: 'Jump to latest' }).click();
      await line(page, 'the latest').waitFor();

      await page.getByLabel('Level').selectOption({ label: 'Errors' });
      await page.getByText(/^2,000 of 10,0\d\d lines$/).waitFor();
      await page.getByLabel('Component').selectOption({ label: 'part1' });
      await page.getByText(/^667 of 10,0\d\d lines$/).waitFor();
      await page.getByLabel('Search logs').fill('no such words');
      await page.getByText('No matching lines').waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await page.getByText(/^10,0\d\d lines$/).waitFor();
      // Markup is text.
      await page.getByLabel('Search logs').fill('onerror');
      await line(page, '<img src=x').click();
      await page.getByRole('region', { name: 'Message' }).getByText('<img src=x onerror').waitFor();
      expect(at.browser.complaints).toEqual([]);
      await page.close();
    },
  );

  verifies(['logs.app/older', 'logs.app/export'], 'older lines are loaded in front of what is read, searched and saved', async () => {
    const page = await at.browser.page(`${at.perch.url}/logs`);
    await waitForConnection(page, LINKED_STATUS);
    await list(page).getByRole('option').first().waitFor();
    const now = Date.now();
    await putRows(
      page,
      'logs',
      Array.from({ length: 6_000 }, (_, number) => ({
        ...{ seq: 20_000 + number, at: now + number, level: number % 1_000 === 500 ? 'error' : 'info' },
        ...{ component: number < 3_000 ? 'early' : 'late', message: `old ${number}` },
      })),
    );
    await page.reload();
    await page.getByText(/^2,0\d\d lines$/).waitFor();
    const older = page.getByRole('button', { name: 'Load older lines' });
    // Not over what is being read, but where one has come to its beginning.
    expect(await older.count()).toBe(0);
    await list(page).focus();
    await page.keyboard.press('Home');
    await older.waitFor();
    const chosen = list(page).getByRole('option', { selected: true });
    const before = { text: await chosen.innerText(), y: (await chosen.boundingBox())?.y };
    await takeScreenshots(page, 'older');
    await older.click();
    await page.getByText(/^4,0\d\d lines$/).waitFor();
    expect({ text: await chosen.innerText(), y: (await chosen.boundingBox())?.y }).toEqual(before);
    // The keys are still the list's.
    await page.keyboard.press('ArrowUp');
    await waitFor(async () => (await chosen.innerText()) !== before.text, 'the line before it');

    // If a filter has no match yet, older lines are searched.
    await page.getByLabel('Search logs').fill('"old 1500" no');
    await page.getByText('No matching lines so far').waitFor();
    await takeScreenshots(page, 'none-yet');
    await page.getByLabel('Search logs').fill('old 1500');
    await page.getByText('No matching lines so far').waitFor();
    await older.click();
    await line(page, 'old 1500').waitFor();
    await page.getByLabel('Search logs').fill('');

    // The file contains all matching lines, not only the loaded ones.
    await page.reload();
    await page.getByText(/^2,0\d\d lines$/).waitFor();
    await page.getByLabel('Level').selectOption({ label: 'Errors' });
    const { text } = await download(page, 'Text');
    expect(text.match(/old \d+/g)).toEqual([500, 1_500, 2_500, 3_500, 4_500, 5_500].map((number) => `old ${number}`));
    await older.waitFor({ state: 'detached' });
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
