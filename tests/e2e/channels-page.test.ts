import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect } from 'vitest';
import { systemClock } from '../../shared/async/clock.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startTelegramServer, TELEGRAM_TOKEN } from '../support/telegram-server.ts';
import { APP_BEARER, startXServer } from '../support/x-server.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openSettings } from './navigate.ts';

describe('channels in the app', () => {
  const at = useGatewayAndBrowser();

  verifies('channels.app/setup', 'Telegram is set up, tells what is wrong, answers, and is switched off and removed', async () => {
    await using telegram = await startTelegramServer(systemClock);
    const page = await openLinkedPage(at.browser, at.perch);
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await openSettings(page, 'Channels');
    await page.getByRole('button', { name: 'Set up Telegram…' }).click();
    const form = page.getByRole('dialog', { name: 'Set up Telegram' });
    // The first field gets the focus, not the buttons below the others.
    await page.waitForFunction(() => document.activeElement?.matches('dialog input[type=password]'));
    await form.getByLabel('Bot token').fill('1:wrong');
    await form.getByText('More', { exact: true }).click();
    await form.getByLabel('API base URL').fill(telegram.url);
    await takeScreenshots(page, 'form');
    await form.getByRole('button', { name: 'Connect' }).click();
    const row = page.getByRole('list', { name: 'Channels', exact: true }).getByRole('listitem', { name: 'Telegram' });
    await row.getByText('Failed', { exact: true }).waitFor();
    await takeScreenshots(page, 'wrong');

    // A channel whose server does not respond is switched on all the same.
    await using silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    await row.getByRole('button', { name: 'Edit…' }).click();
    await form.getByLabel('Bot token').fill(TELEGRAM_TOKEN);
    await form.getByText('More', { exact: true }).click();
    await form.getByLabel('API base URL').fill(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    await form.getByRole('button', { name: 'Connect' }).click();
    await row.getByText('Connecting…').waitFor();
    await row.getByRole('button', { name: 'Turn off' }).waitFor();

    // The right token; who may write, one name a line.
    await row.getByRole('button', { name: 'Edit…' }).click();
    expect(await form.getByLabel('Bot token').inputValue()).toBe('');
    await form.getByLabel('Bot token').fill(TELEGRAM_TOKEN);
    await form.getByText('More', { exact: true }).click();
    await form.getByLabel('API base URL').fill(telegram.url);
    await form.getByRole('button', { name: 'Connect' }).click();
    await row.getByText('Connected', { exact: true }).waitFor();

    // No sender is allowed yet: a new one gets a code, which the owner enters.
    telegram.write('Hello');
    await waitFor(() => telegram.sent.length === 1, 'a code on Telegram');
    const [code = 'none'] = /\b[2-9A-HJKMNP-Z]{8}\b/.exec(telegram.sent[0]?.text ?? '') ?? [];
    await row.getByText('Waiting to be let in: @ada.').waitFor();
    await row.getByLabel('Code').fill('wrong');
    await row.getByRole('button', { name: 'Let in' }).click();
    await row.getByRole('alert').getByText('The code is wrong').waitFor();
    await takeScreenshots(page, 'waits');
    await row.getByLabel('Code').fill(code.toLowerCase());
    await row.getByRole('button', { name: 'Let in' }).click();
    await row.getByText('People you let in (1)').click();
    await row.getByRole('button', { name: 'Remove @ada' }).waitFor();
    await row.getByText('Connected', { exact: true }).waitFor();
    telegram.write('Hello');
    await waitFor(() => telegram.sent.length === 2, 'an answer on Telegram');
    await row.getByText('1 message received, 1 answered').waitFor();
    await takeScreenshots(page, 'runs');

    // An open channel is asked about once.
    const patch = (telegram: Record<string, unknown>) => client.call('config.patch', { patch: { channels: { telegram } } });
    await patch({ allowedUsers: [] });
    const open = row.getByRole('group', { name: 'Anyone can write to your agents here.' });
    await takeScreenshots(page, 'open');
    await open.getByRole('button', { name: 'Allow everyone' }).click();
    await open.waitFor({ state: 'detached' });
    await row.getByText('Anyone can write to your agents here.').waitFor();
    await patch({ allowEveryone: null });
    await open.getByRole('button', { name: 'Ask each sender' }).click();
    await row.getByText('Anyone can write').waitFor({ state: 'detached' });
    expect((await client.call('config.get', { key: 'channels.telegram' })).value).not.toHaveProperty('allowedUsers');

    // An empty field keeps the stored value.
    await row.getByRole('button', { name: 'Edit…' }).click();
    await form.getByLabel('Allowed senders').selectOption('listed');
    await form.getByRole('button', { name: 'Connect' }).click();
    expect(await form.getByLabel('Allowed users').evaluate((field: HTMLTextAreaElement) => field.validity.valueMissing)).toBe(true);
    await form.getByLabel('Allowed users').fill('@somebody_else');
    await form.getByRole('button', { name: 'Connect' }).click();
    await form.waitFor({ state: 'detached' });
    expect((await client.call('config.get', { key: 'channels.telegram' })).value).toMatchObject({
      botToken: '***',
      allowedUsers: ['somebody_else'],
      enabled: true,
    });
    await row.getByText('Connected', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Turn off' }).click();
    await row.getByText('Off', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Remove…' }).click();
    await page.getByRole('dialog', { name: 'Remove Telegram?' }).getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Set up Telegram…' }).waitFor();
    expect(await client.call('config.get', { key: 'channels.telegram' })).toMatchObject({ value: null, isDefault: true });
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies(
    'channels.app/setup-x',
    'X is set up, tells what is wrong, is allowed direct messages by the account’s owner, and answers',
    async () => {
      await using x = await startXServer(systemClock);
      // Posts, too, want more than the app's own token, as X has it.
      x.here.postsByApp = false;
      // The printed link is good once.
      const page = await at.browser.page(await at.perch.open());
      await waitForConnection(page, LINKED_STATUS);
      await page.goto(`${at.perch.url}/channels`);
      await page.getByRole('button', { name: 'Set up X…' }).click();
      const form = page.getByRole('dialog', { name: 'Set up X' });
      await form.getByLabel('Bearer token').fill('AAAA wrong');
      await form.getByLabel('Account').fill('per@ch');
      await form.getByText('More', { exact: true }).click();
      await form.getByLabel('API base URL').fill(x.url);
      await form.getByRole('button', { name: 'Connect' }).click();
      await form.getByRole('alert').getByText('“Account” must not include the @').waitFor();
      await form.getByLabel('Account').fill('@perch');
      await form.getByRole('button', { name: 'Connect' }).click();
      const row = page.getByRole('list', { name: 'Channels', exact: true }).getByRole('listitem', { name: 'X', exact: true });
      await row.getByText('“Bearer token” is not a valid token').waitFor();
      await row.getByRole('button', { name: 'Edit…' }).click();
      await form.getByLabel('Bearer token').fill('AAAA-wrong');
      await form.getByLabel('Account').fill('@perch');
      await form.getByText('More', { exact: true }).click();
      await form.getByLabel('API base URL').fill(x.url);
      await takeScreenshots(page, 'x-form');
      await form.getByRole('button', { name: 'Connect' }).click();
      await row.getByText('Failed', { exact: true }).waitFor();
      await row.getByText('Unauthorized').waitFor();
      await takeScreenshots(page, 'x-wrong');

      // Without the app's id at X nobody can be asked.
      await row.getByRole('button', { name: 'Authorize…' }).click();
      await row.getByRole('alert').getByText('“Client ID” is not set').waitFor();

      await row.getByRole('button', { name: 'Edit…' }).click();
      await waitFor(async () => (await form.getByLabel('Account').inputValue()) === 'perch', 'what is set');
      await form.getByLabel('Bearer token').fill(APP_BEARER);
      await form.getByLabel('Client ID').fill('client-id');
      await form.getByLabel('Allowed senders').selectOption('everyone');
      await form.getByLabel('Reply to direct messages').check();
      await form.getByRole('button', { name: 'Connect' }).click();
      // Shows which authorization is missing, with the name of its button.
      await row.getByText('Direct messages need authorization').waitFor();
      await takeScreenshots(page, 'x-wants');
      const [allowed] = await Promise.all([page.waitForEvent('popup'), row.getByRole('button', { name: 'Authorize…' }).click()]);
      await allowed.getByText('connected').first().waitFor();
      expect(new URL(allowed.url()).pathname).toBe('/oauth/callback');
      await allowed.close();
      expect(x.grants.count).toBe(1);

      await row.getByText('Connected', { exact: true }).waitFor();
      expect(await row.getByText('Direct messages need authorization').count()).toBe(0);

      // The channel polls once when it is switched on, for messages sent in the meantime.
      x.addDirectMessage('Hello, in private');
      x.addMention('hello');
      await row.getByRole('button', { name: 'Turn off' }).click();
      await row.getByText('Off', { exact: true }).waitFor();
      await row.getByRole('button', { name: 'Turn on' }).click();
      await waitFor(() => x.ownDirect().length === 1 && x.own().length > 0, 'answers to the message and the mention');
      await row.getByText('2 messages received, 2 answered').waitFor();
      await takeScreenshots(page, 'x-runs');
      await row.getByRole('button', { name: 'Remove…' }).click();
      await page.getByRole('dialog', { name: 'Remove X?' }).getByRole('button', { name: 'Remove', exact: true }).click();
      await page.getByRole('button', { name: 'Set up X…' }).waitFor();
      expect(at.browser.complaints).toEqual([]);
      await page.close();
    },
  );
});
