import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { runPerch } from '../../bridge/cli/tests/cli-gateway.ts';
import { hasNats, createNatsServer } from '../../bridge/sync/tests/nats-server.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { sendMessage, replies } from './reply-fixture.ts';
import { launchBrowser } from './test-browser.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { startPerch } from './perch-process.ts';
import { connectOutside } from './outside-client.ts';
import { takeScreenshots } from './take-screenshots.ts';

/** Fills the form of a browser that shares without a bridge; `phrase`: of the vault to join, else a new one is made. Resolves with the vault's words. */
async function submitShareForm(page: Page, origin: string, servers: string, phrase?: string): Promise<string> {
  await page.goto(`${origin}/devices#cluster`);
  await page.getByRole('button', { name: 'Set up…' }).click();
  const form = page.getByRole('dialog', { name: 'Sync over NATS' });
  await form.getByLabel('Server URLs').fill(servers);
  if (phrase === undefined) {
    await form.getByLabel('Vault', { exact: true }).selectOption({ label: 'Create a new vault' });
    await form.getByRole('button', { name: 'Show words' }).click();
    await form.getByRole('list', { name: '24 words' }).waitFor();
    await takeScreenshots(page, 'words');
    phrase = (await form.getByRole('listitem').allTextContents()).join(' ');
    await form.getByLabel('I wrote them down').check();
  } else {
    await form.getByLabel('24 words').fill(phrase.split(' ').reverse().join(' '));
    await form.getByRole('button', { name: 'Start syncing', exact: true }).click();
    await form.getByRole('alert').waitFor();
    await takeScreenshots(page, 'wrong-words');
    await form.getByLabel('24 words').fill(phrase);
  }
  await form.getByRole('button', { name: 'Start syncing', exact: true }).click();
  await form.waitFor({ state: 'detached' });
  await page.locator('#cluster').getByRole('status').getByText('Connected', { exact: true }).waitFor();
  await takeScreenshots(page, 'shared');
  return phrase;
}

if (!hasNats) test.skip('vault.cluster/browser-joins: nats-server is not installed here', () => {});
describe.runIf(hasNats)('browsers without a bridge', () => {
  verifies(
    ['vault.cluster/browser-joins', 'vault.cluster/browser-converges'],
    'two browsers and a bridge elsewhere show the same chats over the cluster, also once what served the app is gone',
    async () => {
      await using nats = await createNatsServer();
      await using perch = await startPerch({ host: 'tab' });
      await using one = await launchBrowser();
      await using two = await launchBrowser();
      const a = await one.page(perch.url);
      const b = await two.page(perch.url);
      for (const page of [a, b]) await waitForConnection(page, LINKED_STATUS);
      const phrase = await submitShareForm(a, perch.url, nats.webUrl);
      expect(phrase.split(' ')).toHaveLength(24);
      await submitShareForm(b, perch.url, nats.webUrl, phrase);

      await a.goto(perch.url);
      await sendMessage(a, 'What can you do?');
      await replies(a).first().waitFor();
      const chat = new URL(a.url()).pathname;
      await b.goto(`${perch.url}${chat}`);
      await b.getByRole('article', { name: 'Your message' }).getByText('What can you do?').waitFor();
      await replies(b).first().waitFor();

      const home = mkdtempSync(join(tmpdir(), 'perch-machine-'));
      await using _ = { [Symbol.asyncDispose]: async () => rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }) };
      for (const [args, input] of [[['join'], phrase] as const, [['nats', nats.url], ''] as const]) {
        const { code, stderr } = await runPerch(['sync', ...args], { PERCH_HOME: home }, input);
        expect(code, stderr).toBe(0);
      }
      await using elsewhere = await startPerch({ host: 'headless', home });
      using outside = await connectOutside(elsewhere);
      const sessionId = chat.split('/').at(-1) ?? '';
      const countMessages = async (): Promise<number> => {
        const { messages } = await outside.client.call('chat.history', { sessionId }).catch(() => ({ messages: [] }));
        return messages.length;
      };
      await waitFor(async () => (await countMessages()) === 2, 'the chat at the bridge', 30_000);

      // The app's files are kept, and the cluster is the only way between them.
      await perch.kill('SIGKILL');
      await sendMessage(b, 'What is a session?');
      await a.getByRole('article', { name: 'Your message' }).getByText('What is a session?').waitFor();
      await waitFor(async () => (await countMessages()) === 4, 'the answer at the bridge', 30_000);
      expect([...one.complaints, ...two.complaints].filter((text) => !/ERR_CONNECTION_REFUSED|WebSocket connection/.test(text))).toEqual(
        [],
      );
    },
    180_000,
  );

  verifies(
    'vault.cluster/browser-over',
    'a browser that its bridge has told of the cluster’s WebSocket goes on over that when the bridge is gone, with nothing said to it',
    async () => {
      const config = 'authorization { user: perch, password: right }';
      await using nats = await createNatsServer({ config, operator: { user: 'perch', pass: 'right' } });
      const home = mkdtempSync(join(tmpdir(), 'perch-machine-'));
      await using _ = { [Symbol.asyncDispose]: async () => rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }) };
      const args = ['sync', 'nats', nats.url, '--websocket', nats.webUrl, '--user', 'perch'];
      const { code, stderr } = await runPerch(args, { PERCH_HOME: home }, 'right');
      expect(code, stderr).toBe(0);
      await using perch = await startPerch({ host: 'tab', home });
      await using browser = await launchBrowser();
      const page = await openLinkedPage(browser, perch);
      await sendMessage(page, 'What can you do?');
      await replies(page).first().waitFor();
      const devices = await browser.page(`${perch.url}/devices#cluster`);
      const cluster = devices.locator('#cluster').getByRole('status');
      await cluster.getByText('Paused while Perch runs on your computer').waitFor();
      await perch.kill('SIGKILL');
      await cluster.getByText('Connected', { exact: true }).waitFor({ timeout: 30_000 });

      const operator = await nats.operator();
      const { streams } = await jetstreamManager(operator);
      const shared = async (): Promise<number> => {
        const [own] = (await streams.list().next()).filter(({ config: { name } }) => /^PERCH_[0-9a-f]+$/.test(name));
        return own?.state.last_seq ?? 0;
      };
      const before = await shared();
      await sendMessage(page, 'What is a session?');
      await waitFor(async () => (await shared()) > before, 'what was asked, in the cluster', 30_000);
      await operator.close();
    },
    120_000,
  );
});
