import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { startHubServer } from '../support/hub-server.ts';
import { createChatModel } from '../support/onnx-file.ts';
import { startUpstream, UPSTREAM_TEXT } from '../test-upstream.ts';
import { describeFocus, findLowContrast, findOverflow, waitForNoProblems, tabThroughPage } from './accessibility.ts';
import { LINKED_STATUS, waitForConnection, openLinkedPage } from './connection-status.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

const setupChoices = (page: Page) => page.getByRole('list', { name: 'Connect a model' });
const replies = (page: Page) => page.getByRole('article', { name: 'Reply' });
const message = (page: Page) => page.getByRole('textbox', { name: 'Message' });

describe('the first steps', () => {
  const at = useGatewayAndBrowser();

  verifies('onboarding/skip', 'in nobody’s way, skipped, and back from the settings', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await setupChoices(page).getByRole('button').first().waitFor();
    // One writes at once all the same.
    expect(await describeFocus(page)).toBe('Message');
    await takeScreenshots(page, 'doors');
    expect(await tabThroughPage(page)).toMatchObject({ unfocused: [], withoutFocusRing: [] });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await waitForNoProblems(() => findLowContrast(page), colorScheme)).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 900 });
    expect(await waitForNoProblems(() => findOverflow(page), '320')).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });

    await page.getByRole('button', { name: 'Not now' }).click();
    await setupChoices(page).waitFor({ state: 'detached' });
    await page.reload();
    await waitForConnection(page, LINKED_STATUS);
    await page.getByText('The built-in guide answers').waitFor();
    expect(await setupChoices(page).count()).toBe(0);
    await page.goto(`${at.perch.url}/settings#first-steps`);
    await page.getByRole('button', { name: 'Show setup' }).click();
    await setupChoices(page).waitFor();
    await message(page).fill('What can you do?');
    await message(page).press('Enter');
    await replies(page).getByText(/\w{3}/).first().waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('onboarding/doors', 'a key: what is wrong is said, and then the provider’s best model answers', async () => {
    await using upstream = await startUpstream({ models: ['text-embedding-tiny', 'normal'], apiKey: 'sk-first' });
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    const tile = setupChoices(page).getByRole('button', { name: 'OpenAI', exact: true });
    const key = page.getByLabel('Paste your OpenAI API key');
    const connect = page.getByRole('button', { name: 'Connect', exact: true });
    await tile.click();
    await key.waitFor();
    expect(await describeFocus(page)).toBe('Paste your OpenAI API key');
    await page.getByRole('button', { name: 'Use another address' }).click();
    await page.getByLabel('Server address').fill(upstream.url);
    // A hidden character came along: nothing is sent yet.
    await key.fill('sk-first\u200b');
    await connect.click();
    await page.getByRole('alert').getByText('This key contains an invalid character.').waitFor();
    expect(await describeFocus(page)).toBe('Paste your OpenAI API key');
    expect(upstream.requests).toEqual([]);
    await key.fill('sk-wrong');
    await connect.click();
    await page.getByText('Saved, but not connected').waitFor();
    // A provider that fails its test is saved as a draft. The next visit edits the same provider.
    await page.reload();
    await waitForConnection(page, LINKED_STATUS);
    await tile.click();
    expect(await page.getByLabel('Server address').inputValue()).toBe(upstream.url);
    await key.fill('sk-first');
    await takeScreenshots(page, 'key');
    await connect.click();
    await page.waitForURL(/\/chat\//);
    await replies(page).getByText(UPSTREAM_TEXT.join('')).waitFor();
    expect((await upstream.request(1)).body).toMatchObject({ model: 'normal' });
    using outside = await connectOutside(at.perch);
    expect(await outside.client.call('config.get', { key: 'chat.model' })).toMatchObject({ value: 'openai/normal' });
    expect(Object.keys((await outside.client.call('config.get', { key: 'providers' })).value as object)).toEqual(['openai']);
    // There is a model now: they are gone by themselves, at once.
    await page.goto(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByText('Replies come from normal').waitFor();
    expect(await setupChoices(page).count()).toBe(0);
    await outside.client.call('config.patch', { patch: { providers: { openai: null }, chat: { model: null } } });
    await setupChoices(page).waitFor();
    await page.close();
  });

  verifies('onboarding/doors', 'stay while a server is there and nobody has chosen one of its models', async () => {
    await using upstream = await startUpstream({ models: ['normal'] });
    using outside = await connectOutside(at.perch);
    await addProvider(outside.client, upstream.url);
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByRole('button', { name: 'Model: Guide (no model)' }).click();
    await page.getByRole('option', { name: 'normal' }).waitFor();
    await page.keyboard.press('Escape');
    await setupChoices(page).waitFor();
    await outside.client.call('config.patch', { patch: { chat: { model: 'local/normal' } } });
    await setupChoices(page).waitFor({ state: 'detached' });
    await outside.client.call('config.patch', { patch: { providers: { local: null }, chat: { model: null } } });
    await page.close();
  });

  verifies(
    'onboarding/doors',
    'this machine: downloaded into the browser with its progress, and it answers',
    async () => {
      await using hub = await startHubServer(
        { 'perch/words': createChatModel('Hello from this very tab', { context: 1024 }) },
        { silent: true },
      );
      using outside = await connectOutside(at.perch);
      await outside.client.call('config.patch', { patch: { models: { hub: hub.env.HF_ENDPOINT } } });
      const page = await at.browser.page(at.perch.url);
      await waitForConnection(page, LINKED_STATUS);
      await page.getByRole('button', { name: 'Download a small model' }).click();
      const dialog = page.getByRole('dialog', { name: 'Use a local model' });
      await dialog.getByRole('button', { name: 'Download a model…' }).click();
      await dialog.getByLabel('Repository').fill('perch/words');
      await dialog.getByRole('button', { name: 'Download', exact: true }).click();
      await dialog.getByRole('progressbar', { name: 'Downloading perch/words' }).waitFor();
      await takeScreenshots(page, 'machine');
      await dialog.getByRole('listitem', { name: 'perch/words' }).getByRole('button', { name: 'Cancel' }).click();
      hub.faults.silent = false;
      await dialog.getByRole('button', { name: 'Retry' }).click();
      await dialog.getByRole('button', { name: /^Use / }).click();
      await page.waitForURL(/\/chat\//);
      await replies(page).getByText('Hello from this very tab').waitFor();
      await page.close();
    },
    60_000,
  );
});
