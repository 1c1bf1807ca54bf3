import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { describeFocus, findOverflow, waitForNoProblems } from './accessibility.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openDestination } from './navigate.ts';

const pendingApprovals = (page: Page) => page.getByRole('list', { name: 'Approvals' }).getByRole('listitem');
const pastApprovals = (page: Page) => page.getByRole('list', { name: 'History' }).getByRole('listitem');
const allowedRules = (page: Page) => page.getByRole('region', { name: 'Always allowed' });
const link = (page: Page) => page.getByRole('navigation', { name: 'Chats' }).getByRole('link', { name: /^Automations/ });

/** Seconds that the card says are left. */
async function getSecondsLeft(page: Page): Promise<number> {
  const [minutes = '', seconds = ''] = (await page.getByRole('timer').innerText()).split(':');
  return Number(minutes) * 60 + Number(seconds);
}

describe('the page of approvals', () => {
  const at = useGatewayAndBrowser();
  beforeAll(async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await page.close();
  });

  verifies('approvals/page', 'begins with three things to ask for, each a draft of a new chat', async () => {
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    await openDestination(page, 'Automations', 'Approvals');
    await page.getByRole('heading', { name: 'No approvals yet' }).waitFor();
    const starters = page.getByRole('list', { name: 'Example requests' }).getByRole('button');
    expect(await starters.count()).toBe(3);
    await takeScreenshots(page, 'empty');
    await starters.nth(1).click();
    const composer = page.getByRole('textbox', { name: 'Message' });
    await waitFor(async () => (await composer.inputValue()) === '/tool exec {"command":"uptime"}', 'the draft');
    await composer.press('Enter');
    await pendingApprovals(page).getByRole('button', { name: 'Deny' }).waitFor();
    // The page shows it too, with a link to its chat.
    await openDestination(page, 'Automations', 'Approvals');
    await pendingApprovals(page).getByRole('link', { name: 'a chat' }).waitFor();
    await pendingApprovals(page).getByRole('button', { name: 'Deny' }).click();
    await pastApprovals(page).filter({ hasText: 'Denied' }).filter({ hasText: 'uptime' }).click();
    await page.getByRole('link', { name: 'Open chat' }).click();
    await page.waitForURL(/\/chat\//);
    await page.close();
  });

  verifies('approvals/page', 'a command is shown in full, allowed once, always, and revoked; all updated live', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const requestExec = async (...args: string[]): Promise<string> =>
      (await client.call('exec.create', { command: 'echo', args })).request.requestId;
    const page = await at.browser.page(`${at.perch.url}/approvals`);
    await waitForConnection(page, LINKED_STATUS);
    await requestExec(...Array.from({ length: 200 }, (_, index) => `word ${index}`), 'the last');
    await pendingApprovals(page).getByRole('button', { name: 'Allow once' }).waitFor();
    const command = pendingApprovals(page).getByRole('group', { name: 'Full command' });
    expect(await command.innerText()).toMatch(/^echo "word 0" .*"the last"$/);
    const allow = pendingApprovals(page).getByRole('button', { name: 'Allow once' });
    expect(await command.evaluate((element) => element.scrollHeight > element.clientHeight)).toBe(true);
    expect(await allow.isDisabled()).toBe(true);
    await pendingApprovals(page)
      .getByRole('button', { name: /more lines/ })
      .click();
    expect(await command.evaluate((element) => element.scrollHeight > element.clientHeight)).toBe(false);
    await waitFor(() => allow.isEnabled(), 'the command to be seen');
    expect(await pendingApprovals(page).innerText()).toMatch(/in \/.+\n/);
    await link(page).getByText('1 pending').waitFor();
    await page.getByRole('navigation', { name: 'Automations' }).getByRole('link', { name: 'Approvals 1 pending', exact: true }).waitFor();
    expect(await getSecondsLeft(page)).toBeGreaterThan(200);
    await requestExec('second');
    await link(page).getByText('2 pending').waitFor();
    await takeScreenshots(page, 'waits');

    const first = pendingApprovals(page).filter({ hasText: 'word 0' });
    await first.getByRole('button', { name: 'Allow once' }).focus();
    await page.keyboard.press('Enter');
    await first.waitFor({ state: 'detached' });
    // The keyboard goes on with what waits.
    await waitFor(async () => (await describeFocus(page)) === 'Deny', 'the focus to be on the next card');
    const done = pastApprovals(page).filter({ hasText: 'word 0' });
    await done.getByText('Completed').waitFor();
    await done.locator('summary').click();
    expect(await done.getByRole('group', { name: 'Output' }).innerText()).toContain('word 199 the last');

    await pendingApprovals(page).filter({ hasText: 'second' }).getByRole('button', { name: 'Always allow' }).click();
    const row = allowedRules(page).getByRole('listitem').filter({ hasText: 'echo second' });
    await row.waitFor();
    expect((await client.call('exec.get', { requestId: await requestExec('second') })).request.status).not.toBe('pending');
    await waitFor(async () => (await pastApprovals(page).filter({ hasText: 'echo second' }).count()) === 2, 'both of them in the history');
    await takeScreenshots(page, 'all');
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await waitForNoProblems(() => findOverflow(page), `${width}`)).toEqual([]);
    }
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await row.waitFor({ state: 'detached' });
    const again = await requestExec('second');
    await pendingApprovals(page).filter({ hasText: 'second' }).waitFor();

    // Answered elsewhere.
    await client.call('approvals.resolve', { id: again, decision: 'deny', reason: 'Not now' });
    await page.getByText('Nothing to approve').waitFor();
    await link(page).getByText('pending').waitFor({ state: 'detached' });
    const denied = pastApprovals(page).filter({ hasText: 'Denied' }).filter({ hasText: 'echo second' });
    await denied.locator('summary').click();
    await denied.getByText('Not now').waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('approvals/page', 'a tool that was always allowed is listed and revoked; a command that runs is ended', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const page = await at.browser.page(`${at.perch.url}/approvals`);
    await waitForConnection(page, LINKED_STATUS);
    const afterReading = { file_write: ['web:pages.test', 'document:invoice.pdf'] };
    await client.call('config.patch', { patch: { tools: { policies: { canvas_draw: 'auto', exec: 'ask' }, afterReading } } });
    const after = allowedRules(page).getByRole('listitem').filter({ hasText: 'Runs after reading from pages.test and invoice.pdf' });
    await after.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await after.waitFor({ state: 'detached' });
    expect((await client.call('config.get', { key: 'tools.afterReading' })).value).toEqual({});
    const row = allowedRules(page).getByRole('listitem').filter({ hasText: 'Edit drawing' });
    await row.getByRole('button', { name: 'Revoke' }).click();
    expect(await allowedRules(page).getByRole('listitem').count()).toBe(1);
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await allowedRules(page).getByText('Nothing is always allowed. Everything that makes changes asks first.').waitFor();
    expect((await client.call('config.get', { key: 'tools.policies' })).value).toEqual({ exec: 'ask' });

    const { request } = await client.call('exec.create', { command: 'sleep', args: ['1000'] });
    await pendingApprovals(page).getByRole('button', { name: 'Allow once' }).click();
    const running = pastApprovals(page).filter({ hasText: 'sleep 1000' });
    await running.getByText('Running').waitFor();
    await running.locator('summary').click();
    await running.getByRole('button', { name: 'Stop' }).click();
    await running.getByText('Cancelled', { exact: true }).waitFor();
    expect((await client.call('exec.get', { requestId: request.requestId })).request.status).toBe('cancelled');
    await page.close();
  });

  verifies('approvals/page', 'a script is shown, with what changed since it was allowed; look-alikes are marked', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const dir = await mkdtemp(join(tmpdir(), 'approved-'));
    const write = (text: string): Promise<void> => writeFile(join(dir, 'job.sh'), text);
    const requestExec = async (): Promise<string> =>
      (await client.call('exec.create', { command: 'sh', args: ['job.sh'], workingDir: dir })).request.requestId;
    const page = await at.browser.page(`${at.perch.url}/approvals`);
    await waitForConnection(page, LINKED_STATUS);
    await write('echo one\necho two\n');
    await requestExec();
    const script = pendingApprovals(page).getByRole('group', { name: /job\.sh/ });
    expect(await script.innerText()).toContain('echo two');
    await pendingApprovals(page).getByText('Modules and other files that it loads are not checked.').waitFor();
    await pendingApprovals(page).getByRole('button', { name: 'Allow once' }).click();
    await pastApprovals(page).filter({ hasText: 'job.sh' }).getByText('Completed').waitFor();
    await write(`echo one\n${'echo more\n'.repeat(30)}rm -rf /END\n`);
    const again = await requestExec();
    await pendingApprovals(page).getByText('Changed since you last allowed it').waitFor();
    const allow = pendingApprovals(page).getByRole('button', { name: 'Allow once' });
    expect(await allow.isDisabled()).toBe(true);
    await pendingApprovals(page)
      .getByRole('button', { name: /more lines/ })
      .click();
    await waitFor(() => allow.isEnabled(), 'all of it to be seen');
    expect(await script.innerText()).toContain('- echo two');
    expect(await script.innerText()).toContain('+ rm -rf /END');
    await takeScreenshots(page, 'script');
    await client.call('exec.deny', { requestId: again });
    await pendingApprovals(page).getByText('job.sh').first().waitFor({ state: 'detached' });

    await writeFile(join(dir, 'g\u0456t'), '#!/bin/sh\n', { mode: 0o755 });
    const { request } = await client.call('exec.create', { command: './g\u0456t', workingDir: dir });
    await pendingApprovals(page).getByText('\u0456 (U+0456)').waitFor();
    await client.call('exec.deny', { requestId: request.requestId });
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('approvals/countdown', 'on a machine whose clock is three minutes ahead', async () => {
    using outside = await connectOutside(at.perch);
    const page = await at.browser.page();
    await page.addInitScript(() => {
      const right = Date.now;
      Date.now = () => right() + 180_000;
    });
    await page.goto(`${at.perch.url}/approvals`);
    await waitForConnection(page, LINKED_STATUS);
    await outside.client.call('exec.create', { command: 'echo', args: ['late'] });
    await page.getByRole('timer').waitFor();
    // At the gateway's next tick.
    await waitFor(async () => (await getSecondsLeft(page)) > 200, 'the gateway’s time', 30_000);
    await pendingApprovals(page).getByRole('button', { name: 'Deny' }).click();
    await page.close();
  });
});
