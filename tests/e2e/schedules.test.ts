import type { Page } from 'playwright';
import { beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { findLowContrast, listControls, findOverflow, waitForNoProblems } from './accessibility.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openDestination } from './navigate.ts';

const link = (page: Page) => page.getByRole('navigation', { name: 'Chats' }).getByRole('link', { name: /^Automations/ });
const row = (page: Page, name: string) => page.getByRole('list', { name: 'Schedules' }).getByRole('listitem', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');

describe('the page of schedules', () => {
  const at = useGatewayAndBrowser();
  beforeAll(async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await page.close();
  });

  verifies('cron/page', 'one is begun from a starter, run, read of, changed, switched off and removed', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    await openDestination(page, 'Automations', 'Schedules');
    await page.getByRole('heading', { name: 'No schedules yet' }).waitFor();
    const starters = page.getByRole('list', { name: 'Example schedules' }).getByRole('button');
    expect(await starters.count()).toBe(3);
    await takeScreenshots(page, 'empty');
    await starters.first().click();
    await dialog(page).getByText('Runs Monday to Friday at 08:00').waitFor();
    expect(await dialog(page).getByRole('checkbox', { checked: true }).count()).toBe(5);
    await dialog(page).getByLabel('Time zone').fill('No/Where');
    await dialog(page).getByLabel('Message').fill('What can you do?');
    await dialog(page).getByText('Unknown time zone').waitFor();
    expect(await dialog(page).getByRole('button', { name: 'Add' }).isDisabled()).toBe(true);
    await dialog(page).getByLabel('Time zone').fill('Asia/Tokyo');
    expect((await listControls(page)).filter((each) => each.endsWith(' ""'))).toEqual([]);
    await takeScreenshots(page, 'form');
    await dialog(page).getByRole('button', { name: 'Add' }).click();
    const briefing = row(page, 'Morning briefing');
    await briefing.getByText('Monday to Friday at 08:00 (Asia/Tokyo)').waitFor();
    const [job] = (await client.call('cron.list', {})).jobs;
    expect(job).toMatchObject({ schedule: { kind: 'cron', expr: '0 8 * * 1,2,3,4,5', tz: 'Asia/Tokyo' }, message: 'What can you do?' });
    // By the clock and in words.
    const next = briefing.getByRole('time');
    expect(await next.getAttribute('datetime')).toBe(new Date(job?.nextRunAt ?? 0).toISOString());
    expect(await next.innerText()).toMatch(/^in \d+ (days?|hours?|minutes?), \w{3}, \w{3} \d+, \d\d:\d\d$/);

    await briefing.getByText('History').click();
    await briefing.getByText('No runs yet').waitFor();
    await briefing.getByRole('button', { name: 'Run now' }).click();
    const runs = briefing.getByRole('list', { name: 'Runs' }).getByRole('listitem');
    await runs.getByText('Completed').waitFor();
    await runs.getByText('just now · manual').waitFor();
    await takeScreenshots(page, 'run');

    await briefing.getByText('On', { exact: true }).waitFor();
    await briefing.getByRole('switch').uncheck();
    await briefing.getByText('Off', { exact: true }).waitFor();
    await briefing.getByText('· off').waitFor();
    await waitFor(async () => (await client.call('cron.list', {})).jobs[0]?.enabled === false, 'it to be off');
    await briefing.getByRole('button', { name: 'Edit Morning briefing' }).click();
    await dialog(page).getByLabel('Frequency').selectOption({ label: 'Interval' });
    await dialog(page).getByLabel('Interval').fill('0');
    await dialog(page).getByText('The minimum is 1 minute.').waitFor();
    expect(await dialog(page).getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await dialog(page).getByLabel('Interval').fill('45');
    await dialog(page).getByLabel('Unit').selectOption('minutes');
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await briefing.getByText('every 45 minutes').waitFor();
    // Switched on elsewhere.
    await client.call('cron.toggle', { id: job?.id ?? '', enabled: true });
    await briefing.getByText(/next run in 4\d minutes/).waitFor();
    expect(await briefing.getByRole('switch').isChecked()).toBe(true);

    await runs.getByRole('link', { name: 'Open chat' }).click();
    await page.getByRole('article', { name: 'Reply' }).first().waitFor();
    await page.goBack();
    await briefing.getByRole('button', { name: 'Remove Morning briefing' }).click();
    await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('heading', { name: 'No schedules yet' }).waitFor();
    expect((await client.call('cron.list', {})).jobs).toEqual([]);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('cron/page', 'a job that failed says why and is counted at the link; kinds of schedules in words', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const page = await at.browser.page(`${at.perch.url}/schedules`);
    await waitForConnection(page, LINKED_STATUS);
    await client.call('agents.add', { agent_id: 'passing' });
    await client.call('cron.add', {
      schedule: { kind: 'every', everyMs: 7_200_000 },
      message: 'Say it',
      name: 'Orphan',
      agentId: 'passing',
    });
    await client.call('cron.add', { schedule: { kind: 'at', at: Date.now() + 86_400_000 }, message: 'Say it', name: 'One time' });
    await client.call('cron.add', { cron: '*/20 9-17 * * *', message: 'Say it', name: 'Odd', enabled: false });
    await client.call('agents.remove', { agent_id: 'passing' });
    const orphan = row(page, 'Orphan');
    await orphan.getByText('every 2 hours').waitFor();
    await row(page, 'One time').getByText('once,').waitFor();
    await row(page, 'Odd').getByText('*/20 9-17 * * *').waitFor();
    expect(await link(page).getByText('failed').count()).toBe(0);
    await orphan.getByRole('button', { name: 'Run now' }).click();
    await link(page).getByText('1 failed').waitFor();
    await orphan.getByText('Last run').click();
    await orphan
      .getByRole('list', { name: 'Runs' })
      .getByText(/passing/)
      .waitFor();
    // The run never created a chat.
    expect(await orphan.getByRole('link', { name: 'Open chat' }).count()).toBe(0);
    await takeScreenshots(page, 'failed');

    // By name and by what the agent is told.
    const names = (): Promise<string[]> =>
      page.getByRole('list', { name: 'Schedules' }).getByRole('listitem').locator('strong').allInnerTexts();
    const search = page.getByRole('textbox', { name: 'Search schedules' });
    await search.fill(' orphan');
    await page.getByText('1 result', { exact: true }).waitFor();
    expect(await names()).toEqual(['Orphan']);
    await search.fill('say it');
    await page.getByText('3 results', { exact: true }).waitFor();
    await search.fill('nothing of the kind');
    await page.getByText('No matching schedules').waitFor();
    await takeScreenshots(page, 'search');
    await page.keyboard.press('Escape');
    await orphan.waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await waitForNoProblems(() => findLowContrast(page), colorScheme)).toEqual([]);
    }
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await waitForNoProblems(() => findOverflow(page), `${width}`)).toEqual([]);
    }
    await page.setViewportSize({ width: 1280, height: 800 });

    // Once, by the clock of this browser.
    await page.getByRole('button', { name: 'New schedule' }).click();
    await dialog(page).getByLabel('Message').fill('Once only');
    await dialog(page).getByLabel('Frequency').selectOption({ label: 'Once' });
    await dialog(page).getByLabel('Date and time').fill('2020-01-01T10:00');
    await dialog(page).getByText('Choose a time in the future.').waitFor();
    await dialog(page).getByLabel('Date and time').fill('2199-01-01T10:00');
    await dialog(page).getByRole('button', { name: 'Add' }).click();
    await row(page, 'Once only').getByText('once, Jan 1, 2199, 10:00').waitFor();
    const { jobs } = await client.call('cron.list', {});
    const there = await page.evaluate(() => new Date(2199, 0, 1, 10).getTime());
    expect(jobs.find(({ name }) => name === 'Once only')?.schedule).toEqual({ kind: 'at', at: there });
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
