import { readFileSync } from 'node:fs';
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { startUpstream, type Upstream } from '../test-upstream.ts';
import { findLowContrast, findOverflow, waitForNoProblems, tabThroughPage } from './accessibility.ts';
import { LINKED_STATUS, waitForConnection, openLinkedPage } from './connection-status.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { putRows } from './put-rows.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openSettings } from './navigate.ts';

const DAY_MS = 86_400_000;
/** A call of the model that costs, nine tenths of whose input come from the cache. */
const EXPENSIVE_CALL = {
  inputTokens: 3_000,
  outputTokens: 500,
  totalTokens: 3_500,
  cacheReadTokens: 2_700,
  cacheWriteTokens: 250,
  cost: 0.02,
};

/** Calls of a month: each day one more than the day before, of two models, one of which costs. */
function createMonthOfUsage(now: number): object[] {
  return Array.from({ length: 29 }, (_, at) => {
    const day = now - (29 - at) * DAY_MS;
    const records = Array.from({ length: at + 1 }, (__, call) => ({
      ...{ id: `old-${at}-${call}`, at: day + call, sessionKey: `main/old-${at}`, principal: call % 5 ? 'owner' : 'key:laptop' },
      ...(call % 3
        ? { provider: 'local', model: 'local/small', usage: { inputTokens: 900, outputTokens: 100, totalTokens: 1_000 } }
        : { provider: 'big', model: 'big/=large', usage: EXPENSIVE_CALL }),
    }));
    return { id: `old-${at}-0`, until: day + at, records };
  });
}

const chart = (page: Page, name: string) => page.getByRole('figure', { name });
const total = (page: Page, name: string) => page.locator('dl[aria-label="Totals"] > div').filter({ hasText: name }).locator('dd').first();

describe('usage in the app', () => {
  const at = useGatewayAndBrowser();
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream({ models: ['normal'] });
  });
  afterAll(() => upstream.close());

  verifies('usage.app/charts', 'nothing at first, then a call as it ends, then a month by day, provider, model and hour', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await openSettings(page, 'Usage');
    await page.getByText('No usage in this period').waitFor();
    await page.getByRole('link', { name: 'Start a chat' }).waitFor();
    await takeScreenshots(page, 'empty');

    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await addProvider(client, upstream.url);
    await client.call('chat.send', { message: 'hi', sessionId: 'one', model: 'local/normal' });
    await total(page, 'Tokens').getByText('18', { exact: true }).waitFor();
    await total(page, 'Calls').getByText('1', { exact: true }).waitFor();

    await putRows(page, 'usage', createMonthOfUsage(Date.now()));
    await page.getByLabel('Period').selectOption({ label: 'Last 90 days' });
    const usageReport = await client.call('usage.get', { days: 90 });
    expect(usageReport.calls).toBe(436);
    await total(page, 'Calls').getByText('436', { exact: true }).waitFor();
    await total(page, 'Tokens').getByText(usageReport.totalTokens.toLocaleString('en'), { exact: true }).waitFor();
    await total(page, 'Cost')
      .getByText(`$${usageReport.estimatedCost.toFixed(2)}`, { exact: true })
      .waitFor();
    await total(page, 'Chats').getByText('30', { exact: true }).waitFor();

    // A bar for each day, of heights in the proportion of what they say.
    await page.getByLabel('Show').selectOption({ label: 'Calls' });
    const bars = chart(page, 'Calls by day').locator('.bar');
    expect(await bars.count()).toBe(90);
    const height = async (day: number): Promise<number> => Number(await bars.nth(day).getAttribute('height'));
    expect((await height(88)) / (await height(88 - 14))).toBeCloseTo(29 / 15, 5);
    // The greatest first.
    await page.getByLabel('Show').selectOption({ label: 'Cost' });
    expect(await chart(page, 'Cost by model').getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^big\/=large\s+\$/),
      expect.stringMatching(/\$0\.00$/),
      expect.stringMatching(/\$0\.00$/),
    ]);
    // Of the input of each model: the small one's provider reports nothing, 3 of 11 tokens of the call before were cached.
    await page.getByLabel('Show').selectOption({ label: 'Cache hit rate' });
    expect(await chart(page, 'Cache hit rate by model').getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^big\/=large\s+90%$/),
      expect.stringMatching(/^local\/normal\s+27%$/),
      expect.stringMatching(/^local\/small\s+–$/),
    ]);
    await chart(page, 'Cache hit rate by day').getByText('100%', { exact: true }).waitFor();
    await takeScreenshots(page, 'cache');
    await page.getByLabel('Show').selectOption({ label: 'Tokens' });
    expect((await chart(page, 'Tokens by model').getByRole('listitem').allInnerTexts())[0]).toMatch(/^big\/=large/);
    expect(await chart(page, 'Tokens by provider').getByRole('listitem').count()).toBe(2);
    await chart(page, 'Tokens by API key').getByText('laptop').waitFor();
    await takeScreenshots(page, 'charts');

    // Each as a table.
    for (const name of ['Tokens by day', 'Tokens by model', 'Tokens by provider', 'Calls by hour'])
      await chart(page, name)
        .getByRole('button', { name: `Table ${name}` })
        .click();
    const { dailyBreakdown } = await client.call('usage.daily', { days: 90 });
    const rows = chart(page, 'Tokens by day').getByRole('row');
    expect(await rows.count()).toBe(91);
    const written = (key: string): string => Object(dailyBreakdown[88])[key].toLocaleString('en');
    expect(await rows.nth(2).getByRole('cell').allInnerTexts()).toEqual([
      ...['calls', 'inputTokens'].map(written),
      // 10 of the 29 calls are of the big model: 27,000 of 47,100.
      '57%',
      ...['outputTokens', 'totalTokens'].map(written),
      '$0.20',
    ]);
    const ofModels = chart(page, 'Tokens by model').getByRole('row');
    expect(await ofModels.filter({ hasText: 'big/=large' }).getByRole('cell').nth(2).innerText()).toBe('90%');
    expect(await ofModels.filter({ hasText: 'local/small' }).getByRole('cell').nth(2).innerText()).toBe('–');
    const { hourlyDistribution } = await client.call('usage.hourly', { days: 90 });
    expect(await chart(page, 'Calls by hour').getByRole('cell').allInnerTexts()).toEqual(
      hourlyDistribution.map((calls) => calls.toLocaleString('en')),
    );
    await takeScreenshots(page, 'tables');
    expect(await tabThroughPage(page)).toMatchObject({ unfocused: [], withoutFocusRing: [] });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await waitForNoProblems(() => findLowContrast(page), colorScheme)).toEqual([]);
    }
    for (const width of [320, 768, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await waitForNoProblems(() => findOverflow(page), `${width}`)).toEqual([]);
    }
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('budgets/app', 'a reply that a budget has stopped says so, and continues when a person says so', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await client.call('config.set', { key: 'chat.model', value: 'local/normal' });
    await client.call('chat.send', { message: 'hi', sessionId: 'budgets' });
    await client.call('budgets.set', { scope: 'agent:main', limits: { day: { tokens: 1 } } });
    const page = await at.browser.page(`${at.perch.url}/chat/main/budgets`);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByRole('textbox', { name: 'Message' }).fill('And now?');
    await page.keyboard.press('Enter');
    const stop = page.getByRole('alert').filter({ hasText: 'The daily budget is used up: Agent Main.' });
    await stop.getByText('of 1 tokens today').waitFor();
    await takeScreenshots(page, 'stopped');
    expect(await waitForNoProblems(() => findLowContrast(page), 'stopped')).toEqual([]);
    await stop.getByRole('button', { name: 'Raise budget' }).click();
    await page.getByRole('dialog').getByLabel('Per day (tokens)').waitFor();
    await takeScreenshots(page, 'raise');
    await page.keyboard.press('Escape');
    await stop.getByRole('button', { name: 'Continue anyway for today' }).click();
    await stop.waitFor({ state: 'detached' });
    await openSettings(page, 'Usage');
    const card = page.getByRole('region', { name: 'Budgets' });
    await card.getByText('Continued for today').waitFor();
    await card.getByRole('button', { name: 'Set budget' }).click();
    await page.getByLabel('Per month (USD)').fill('50');
    await page.getByRole('button', { name: 'Save' }).click();
    await card.getByText('of $50.00 this month').waitFor();
    await takeScreenshots(page, 'budgets');
    expect((await client.call('budgets.list', { scope: 'vault' })).budgets).toMatchObject([{ limits: { month: { cost: 50 } } }]);
    for (const width of [320, 768]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await waitForNoProblems(() => findOverflow(page), `${width}`)).toEqual([]);
    }
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies(
    'usage.app/charts',
    'on a Japanese phone no line of the totals ends within a word, or before the number that it leads to',
    async () => {
      const page = await at.browser.page(`${at.perch.url}/usage`);
      try {
        await waitForConnection(page, LINKED_STATUS);
        await page.evaluate(() => localStorage.setItem('perch.locale', 'ja'));
        await page.setViewportSize({ width: 360, height: 800 });
        await page.reload();
        const totals = page.locator('dl[aria-label="合計"]');
        await totals.getByText('使用のあったもの').waitFor();
        // How wide letters are depends on the fonts of the machine: each line is tried at every width between its longest part and its whole.
        const PARTS = ['入力[\\d,]+、|出力[\\d,]+', '推定', 'モデルへ', '使用の|あった|もの'];
        const lines = await totals.locator('dd.more').evaluateAll(
          (all, parts) =>
            all.map((each, row) => {
              const { style } = each as HTMLElement;
              const text = each.firstChild;
              const getRect = (from: number, to: number): DOMRect => {
                const range = document.createRange();
                if (text) range.setStart(text, from);
                if (text) range.setEnd(text, to);
                return range.getBoundingClientRect();
              };
              style.cssText = 'inline-size: max-content; white-space: nowrap';
              const found = [...each.textContent.matchAll(new RegExp(parts[row] ?? '', 'g'))];
              const widths = found.map((part) => getRect(part.index, part.index + part[0].length).width);
              const fullWidth = getRect(0, each.textContent.length).width;
              const broken: string[] = [];
              for (let width = Math.ceil(Math.max(...widths)) + 1; width <= fullWidth + 2; width++) {
                style.cssText = `inline-size: ${width}px; max-inline-size: none`;
                const tops = Array.from(each.textContent, (_, at) => getRect(at, at + 1).top);
                broken.push(
                  Array.from(each.textContent, (letter, at) => (at > 0 && tops[at] !== tops[at - 1] ? `|${letter}` : letter)).join(''),
                );
              }
              return { parts: found.map(([part]) => part), broken: [...new Set(broken)] };
            }),
          PARTS,
        );
        expect(lines.map(({ parts }) => parts.length)).toEqual([2, 1, 1, 3]);
        for (const { parts, broken } of lines)
          for (const line of broken) {
            expect(line.replaceAll('|', '')).toBe(parts.join(''));
            for (const part of parts) expect(line).toContain(part);
          }
        expect(lines.flatMap(({ broken }) => broken).join()).toContain('|');
      } finally {
        await page.evaluate(() => localStorage.removeItem('perch.locale'));
        await page.close();
      }
    },
  );

  verifies('usage.app/csv', 'the file has what is shown', async () => {
    const page = await at.browser.page(`${at.perch.url}/usage`);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByLabel('Period').selectOption({ label: 'Last 7 days' });
    const button = page.getByRole('button', { name: 'CSV' });
    await page.getByRole('img', { name: 'Tokens, last 7 days' }).waitFor();
    const [got] = await Promise.all([page.waitForEvent('download'), button.click()]);
    expect(got.suggestedFilename()).toMatch(/^usage-7-days-to-\d{4}-\d\d-\d\d\.csv$/);
    const lines = readFileSync(await got.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    const client = await at.perch.client();
    const { dailyBreakdown } = await client.call('usage.daily', { days: 7 });
    expect(lines.filter((line) => line.startsWith('day,'))).toEqual(
      dailyBreakdown.map((day) =>
        [
          'day',
          day.date,
          day.calls,
          day.inputTokens,
          day.outputTokens,
          day.totalTokens,
          day.cost,
          day.cacheReadTokens,
          day.cacheWriteTokens,
          day.estimatedCalls,
        ].join(),
      ),
    );
    expect(lines.filter((line) => line.startsWith('hour,'))).toHaveLength(24);
    expect(lines.find((line) => line.startsWith('model,big'))).toMatch(/^model,big\/=large,\d+,/);
    client.close();
    await page.close();
  });
});
