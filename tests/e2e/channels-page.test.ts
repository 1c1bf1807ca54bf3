import { describe, expect } from 'vitest';
import { systemClock } from '../../web/gateway/core/clock.ts';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { telegramServer, TOKEN } from '../support/telegram-server.ts';
import { linkedPage } from './connected.ts';
import { connectOutside } from './outside.ts';
import { served } from './served.ts';
import { shoot } from './shoot.ts';

describe('channels in the app', () => {
  const at = served();

  verifies('channels.app/setup', 'Telegram is set up, tells what is wrong, answers, and is switched off and removed', async () => {
    await using telegram = await telegramServer(systemClock);
    const page = await linkedPage(at.browser, at.perch);
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await page.getByText('Gateway', { exact: true }).click();
    await page.getByRole('link', { name: 'Channels', exact: true }).click();
    await page.getByRole('button', { name: 'Set up Telegram…' }).click();
    const form = page.getByRole('dialog', { name: 'Set up Telegram' });
    await form.getByLabel('Token of the bot').fill('1:wrong');
    await form.getByText('More', { exact: true }).click();
    await form.getByLabel('Address of the API').fill(telegram.url);
    await shoot(page, 'form');
    await form.getByRole('button', { name: 'Connect' }).click();
    const row = page.getByRole('list', { name: 'Channels', exact: true }).getByRole('listitem', { name: 'Telegram' });
    await row.getByText('does not work').waitFor();
    await shoot(page, 'wrong');

    // The right token; who may write, one name a line.
    await row.getByRole('button', { name: 'Edit…' }).click();
    expect(await form.getByLabel('Token of the bot').inputValue()).toBe('');
    await form.getByLabel('Token of the bot').fill(TOKEN);
    await form.getByRole('button', { name: 'Connect' }).click();
    await row.getByText('connected', { exact: true }).waitFor();
    telegram.write('Hello');
    await until(() => telegram.sent.length === 1, 'an answer on Telegram');
    await row.getByText('1 message came, 1 answered').waitFor();
    await shoot(page, 'runs');

    // What is stored stays where the field is left empty.
    await row.getByRole('button', { name: 'Edit…' }).click();
    await form.getByLabel('Who may write').fill('@somebody_else');
    await form.getByRole('button', { name: 'Connect' }).click();
    await form.waitFor({ state: 'detached' });
    expect((await client.call('config.get', { key: 'channels.telegram' })).value).toMatchObject({
      botToken: '***',
      allowedUsers: ['somebody_else'],
      enabled: true,
    });
    await row.getByText('connected', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Switch off' }).click();
    await row.getByText('off', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Remove…' }).click();
    await page.getByRole('dialog', { name: 'Remove Telegram?' }).getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Set up Telegram…' }).waitFor();
    await expect(client.call('config.get', { key: 'channels.telegram' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
