import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { focused, overflowing, remaining } from './accessibility.ts';
import { connected, LINKED, linkedPage } from './connected.ts';
import { connectOutside } from './outside.ts';
import { served } from './served.ts';
import { shoot } from './shoot.ts';

const waiting = (page: Page) => page.getByRole('list', { name: 'Approvals' }).getByRole('listitem');
const past = (page: Page) => page.getByRole('list', { name: 'History' }).getByRole('listitem');
const allowed = (page: Page) => page.getByRole('region', { name: 'Always allowed' });
const link = (page: Page) => page.getByRole('navigation', { name: 'Chats' }).getByRole('link', { name: /^Approvals/ });

/** Seconds that the card says are left. */
async function left(page: Page): Promise<number> {
  const [minutes = '', seconds = ''] = (await page.getByRole('timer').innerText()).split(':');
  return Number(minutes) * 60 + Number(seconds);
}

describe('the page of approvals', () => {
  const at = served();
  beforeAll(async () => {
    const page = await linkedPage(at.browser, at.perch);
    await page.close();
  });

  verifies('approvals/page', 'begins with three things to ask for, each a draft of a new chat', async () => {
    const page = await at.browser.page(at.perch.url);
    await connected(page, LINKED);
    await link(page).click();
    await page.getByRole('heading', { name: 'No approvals yet' }).waitFor();
    const starters = page.getByRole('list', { name: 'Example requests' }).getByRole('button');
    expect(await starters.count()).toBe(3);
    await shoot(page, 'empty');
    await starters.nth(1).click();
    const composer = page.getByRole('textbox', { name: 'Message' });
    await until(async () => (await composer.inputValue()) === '/tool exec {"command":"uptime"}', 'the draft');
    await composer.press('Enter');
    await waiting(page).getByRole('button', { name: 'Deny' }).waitFor();
    // The page shows it too, with a link to its chat.
    await link(page).click();
    await waiting(page).getByRole('link', { name: 'a chat' }).waitFor();
    await waiting(page).getByRole('button', { name: 'Deny' }).click();
    await past(page).filter({ hasText: 'Denied' }).filter({ hasText: 'uptime' }).click();
    await page.getByRole('link', { name: 'Open chat' }).click();
    await page.waitForURL(/\/chat\//);
    await page.close();
  });

  verifies('approvals/page', 'a command is shown in full, allowed once, always, and revoked; all updated live', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const ask = async (...args: string[]): Promise<string> =>
      (await client.call('exec.create', { command: 'echo', args })).request.requestId;
    const page = await at.browser.page(`${at.perch.url}/approvals`);
    await connected(page, LINKED);
    await ask(...Array.from({ length: 200 }, (_, index) => `word ${index}`), 'the last');
    await waiting(page).getByRole('button', { name: 'Allow once' }).waitFor();
    const command = waiting(page).getByRole('group', { name: 'Full command' });
    expect(await command.innerText()).toMatch(/^echo "word 0" .*"the last"$/);
    const allow = waiting(page).getByRole('button', { name: 'Allow once' });
    expect(await command.evaluate((element) => element.scrollHeight > element.clientHeight)).toBe(true);
    expect(await allow.isDisabled()).toBe(true);
    await waiting(page)
      .getByRole('button', { name: /more lines/ })
      .click();
    expect(await command.evaluate((element) => element.scrollHeight > element.clientHeight)).toBe(false);
    await until(() => allow.isEnabled(), 'the command to be seen');
    expect(await waiting(page).innerText()).toMatch(/in \/.+\n/);
    await link(page).getByText('1 pending').waitFor();
    expect(await left(page)).toBeGreaterThan(200);
    await ask('second');
    await link(page).getByText('2 pending').waitFor();
    await shoot(page, 'waits');

    const first = waiting(page).filter({ hasText: 'word 0' });
    await first.getByRole('button', { name: 'Allow once' }).focus();
    await page.keyboard.press('Enter');
    await first.waitFor({ state: 'detached' });
    // The keyboard goes on with what waits.
    await until(async () => (await focused(page)) === 'Deny', 'the focus to be on the next card');
    const done = past(page).filter({ hasText: 'word 0' });
    await done.getByText('Completed').waitFor();
    await done.locator('summary').click();
    expect(await done.getByRole('group', { name: 'Output' }).innerText()).toContain('word 199 the last');

    await waiting(page).filter({ hasText: 'second' }).getByRole('button', { name: 'Always allow' }).click();
    const row = allowed(page).getByRole('listitem').filter({ hasText: 'echo second' });
    await row.waitFor();
    expect((await client.call('exec.get', { requestId: await ask('second') })).request.status).not.toBe('pending');
    await until(async () => (await past(page).filter({ hasText: 'echo second' }).count()) === 2, 'both of them in the history');
    await shoot(page, 'all');
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await remaining(() => overflowing(page), `${width}`)).toEqual([]);
    }
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await row.waitFor({ state: 'detached' });
    const again = await ask('second');
    await waiting(page).filter({ hasText: 'second' }).waitFor();

    // Answered elsewhere.
    await client.call('approvals.resolve', { id: again, decision: 'deny', reason: 'Not now' });
    await page.getByText('Nothing to approve').waitFor();
    await link(page).getByText('pending').waitFor({ state: 'detached' });
    const denied = past(page).filter({ hasText: 'Denied' }).filter({ hasText: 'echo second' });
    await denied.locator('summary').click();
    await denied.getByText('Not now').waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('approvals/page', 'a tool that was always allowed is listed and revoked; a command that runs is ended', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const page = await at.browser.page(`${at.perch.url}/approvals`);
    await connected(page, LINKED);
    const afterReading = { file_write: ['web:pages.test', 'document:invoice.pdf'] };
    await client.call('config.patch', { patch: { tools: { policies: { canvas_draw: 'auto', exec: 'ask' }, afterReading } } });
    const after = allowed(page).getByRole('listitem').filter({ hasText: 'Runs after reading from pages.test and invoice.pdf' });
    await after.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await after.waitFor({ state: 'detached' });
    expect((await client.call('config.get', { key: 'tools.afterReading' })).value).toEqual({});
    const row = allowed(page).getByRole('listitem').filter({ hasText: 'Edit drawing' });
    await row.getByRole('button', { name: 'Revoke' }).click();
    expect(await allowed(page).getByRole('listitem').count()).toBe(1);
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await allowed(page).getByText('Nothing is always allowed. Everything that makes changes asks first.').waitFor();
    expect((await client.call('config.get', { key: 'tools.policies' })).value).toEqual({ exec: 'ask' });

    const { request } = await client.call('exec.create', { command: 'sleep', args: ['1000'] });
    await waiting(page).getByRole('button', { name: 'Allow once' }).click();
    const running = past(page).filter({ hasText: 'sleep 1000' });
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
    const ask = async (): Promise<string> =>
      (await client.call('exec.create', { command: 'sh', args: ['job.sh'], workingDir: dir })).request.requestId;
    const page = await at.browser.page(`${at.perch.url}/approvals`);
    await connected(page, LINKED);
    await write('echo one\necho two\n');
    await ask();
    const script = waiting(page).getByRole('group', { name: /job\.sh/ });
    expect(await script.innerText()).toContain('echo two');
    await waiting(page).getByText('Modules and other files that it loads are not checked.').waitFor();
    await waiting(page).getByRole('button', { name: 'Allow once' }).click();
    await past(page).filter({ hasText: 'job.sh' }).getByText('Completed').waitFor();
    await write(`echo one\n${'echo more\n'.repeat(30)}rm -rf /END\n`);
    const again = await ask();
    await waiting(page).getByText('Changed since you last allowed it').waitFor();
    const allow = waiting(page).getByRole('button', { name: 'Allow once' });
    expect(await allow.isDisabled()).toBe(true);
    await waiting(page)
      .getByRole('button', { name: /more lines/ })
      .click();
    await until(() => allow.isEnabled(), 'all of it to be seen');
    expect(await script.innerText()).toContain('- echo two');
    expect(await script.innerText()).toContain('+ rm -rf /END');
    await shoot(page, 'script');
    await client.call('exec.deny', { requestId: again });
    await waiting(page).getByText('job.sh').first().waitFor({ state: 'detached' });

    await writeFile(join(dir, 'g\u0456t'), '#!/bin/sh\n', { mode: 0o755 });
    const { request } = await client.call('exec.create', { command: './g\u0456t', workingDir: dir });
    await waiting(page).getByText('\u0456 (U+0456)').waitFor();
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
    await connected(page, LINKED);
    await outside.client.call('exec.create', { command: 'echo', args: ['late'] });
    await page.getByRole('timer').waitFor();
    // At the gateway's next tick.
    await until(async () => (await left(page)) > 200, 'the gateway’s time', 30_000);
    await waiting(page).getByRole('button', { name: 'Deny' }).click();
    await page.close();
  });
});
