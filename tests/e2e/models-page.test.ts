import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startHubServer } from '../support/hub-server.ts';
import { createChatModel } from '../support/onnx-file.ts';
import { startUpstream, type Upstream, UPSTREAM_TEXT } from '../test-upstream.ts';
import { describeFocus, findLowContrast, findOverflow, waitForNoProblems, tabThroughPage } from './accessibility.ts';
import { LINKED_STATUS, waitForConnection, openLinkedPage } from './connection-status.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openSettings } from './navigate.ts';

const GRAPH = 'onnx/model_quantized.onnx';
const table = (page: Page) => page.getByRole('table', { name: 'Models' });
const row = (page: Page, key: string) =>
  table(page)
    .getByRole('row')
    .filter({ has: page.getByText(key, { exact: true }) });

describe('models in the app', () => {
  const at = useGatewayAndBrowser();
  let upstream: Upstream;
  let vendor: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream({ models: ['normal', 'error-500'] });
    vendor = await startUpstream({ models: ['gpt-4o', 'gpt-4o-mini', 'o-unheard-of'], apiKey: 'sk-vendor' });
  });
  afterAll(async () => {
    await upstream.close();
    await vendor.close();
  });

  verifies(
    ['models.app/list', 'models.app/answering', 'models.app/small'],
    'found, set side by side, made the default, with others that take over',
    async () => {
      const page = await openLinkedPage(at.browser, at.perch);
      await openSettings(page, 'Models and keys');
      await page.getByText('Built in').waitFor();
      await row(page, 'guide/guide').waitFor();
      await page.getByRole('button', { name: 'Find local servers' }).click();
      await page.getByText('No local models found.').waitFor();
      await takeScreenshots(page, 'empty');

      using outside = await connectOutside(at.perch);
      const { client } = outside;
      await addProvider(client, upstream.url);
      await client.call('config.patch', {
        patch: { providers: { vendor: { name: 'Vendor', kind: 'openai', baseUrl: vendor.url, apiKey: 'sk-vendor' } } },
      });
      // Shown without being asked for again, with what is known of each.
      await row(page, 'vendor/gpt-4o').waitFor();
      expect(await row(page, 'vendor/gpt-4o').locator('td.number').allInnerTexts()).toEqual(['128k', '$2.50', '$10.00']);
      expect(await row(page, 'vendor/o-unheard-of').locator('td.number').allInnerTexts()).toEqual(['–', '–', '–']);
      const { pricesAsOf } = await client.call('models.list', {});
      const day = new Date(pricesAsOf ?? NaN).toLocaleDateString('en', { dateStyle: 'long', timeZone: 'UTC' });
      await page.getByText(`Prices that a provider doesn’t list are from ${day}`).waitFor();

      const keys = (): Promise<string[]> => table(page).locator('.key').allInnerTexts();
      await page.getByLabel('Search models').fill('VENDOR mini');
      await waitFor(async () => (await keys()).join() === 'vendor/gpt-4o-mini', 'the one that fits');
      await page.getByLabel('Search models').fill('no such model');
      await page.getByText('No matching models').waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      // The capability filters fit on one line, on a tablet too.
      await page.setViewportSize({ width: 768, height: 900 });
      const line = async (label: string): Promise<number | undefined> => (await page.getByLabel(label, { exact: true }).boundingBox())?.y;
      expect(await line('Vision')).toBe(await line('Tools'));
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.getByLabel('Vision', { exact: true }).check();
      await waitFor(async () => (await keys()).toSorted().join() === 'vendor/gpt-4o,vendor/gpt-4o-mini', 'those that see');
      await page.getByLabel('Sort by').selectOption({ label: 'Lowest price' });
      await waitFor(async () => (await keys()).join() === 'vendor/gpt-4o-mini,vendor/gpt-4o', 'the cheapest first');
      await page.getByLabel('Vision', { exact: true }).uncheck();

      expect((await page.getByRole('columnheader', { name: 'Compare' }).getByText('Compare').boundingBox())?.width).toBeGreaterThan(20);
      for (const name of ['gpt-4o', 'normal', 'error-500']) await page.getByLabel(`Compare ${name}`, { exact: true }).check();
      const otherComparison = page.getByRole('region', { name: 'Comparison' }).last();
      const fact = (name: string) => otherComparison.getByRole('row').filter({ hasText: name }).getByRole('cell').allInnerTexts();
      expect(await fact('Output price')).toEqual(['$10.00', '–', '–']);
      expect(await fact('Vision')).toEqual(['Yes', 'No', 'No']);
      // The measurement is the time to the first token of that model.
      await otherComparison.getByRole('button', { name: 'Measure normal' }).click();
      await otherComparison.getByText(/^[\d,]+ ms$/).waitFor();
      expect(upstream.requests.at(-1)?.body).toMatchObject({ model: 'normal' });
      await otherComparison.getByRole('button', { name: 'Measure error-500' }).click();
      await waitFor(async () => (await fact('Time to first token'))[2]?.includes('Measure again') === true, 'why it does not answer');
      expect((await fact('Time to first token'))[2]).not.toMatch(/\d ms/);
      await page.getByRole('heading', { name: 'All models' }).scrollIntoViewIfNeeded();
      await takeScreenshots(page, 'compared');
      await otherComparison.getByRole('button', { name: 'Remove normal' }).click();
      expect(await otherComparison.getByRole('columnheader').count()).toBe(2);

      await page.getByRole('button', { name: 'Make default error-500' }).click();
      await row(page, 'local/error-500').getByText('Default', { exact: true }).waitFor();
      const fallback = page.getByLabel('Add a fallback');
      const set = async (): Promise<string> => JSON.stringify(await client.call('config.get', { key: 'chat' }));
      for (const key of ['vendor/gpt-4o', 'local/normal']) {
        await fallback.selectOption(key);
        await waitFor(async () => (await set()).includes(key), `${key} to be set`);
      }
      await page.getByRole('button', { name: 'Move normal up' }).click();
      await waitFor(async () => (await set()).includes('["local/normal","vendor/gpt-4o"]'), 'the other order');
      await page.getByRole('button', { name: 'Remove gpt-4o' }).last().waitFor();
      await takeScreenshots(page, 'answering');

      const small = page.getByRole('region', { name: 'Small tasks' });
      const model = small.getByLabel('Model for small tasks');
      const named = small.getByLabel('Name new chats with a model');
      expect([await model.inputValue(), await named.isChecked()]).toEqual(['auto', false]);
      await takeScreenshots(page, 'small-tasks');
      await model.selectOption('vendor/gpt-4o-mini');
      await waitFor(async () => (await set()).includes('"smallModel":"vendor/gpt-4o-mini"'), 'the small model to be set');
      await named.check();
      await waitFor(async () => (await set()).includes('"titles":true'), 'titles to be on');
      await named.uncheck();
      await waitFor(async () => (await set()).includes('"titles":false'), 'titles to be off again');

      // The setting applies to the next message: the default fails, and the first fallback answers.
      await page.goto(at.perch.url);
      await waitForConnection(page, LINKED_STATUS);
      await page.getByRole('textbox', { name: 'Message' }).fill('hi there');
      await page.getByRole('textbox', { name: 'Message' }).press('Enter');
      await page.getByRole('article', { name: 'Reply' }).getByText(UPSTREAM_TEXT.join('')).waitFor();
      expect(upstream.requests.some(({ body }) => body?.['model'] === 'error-500' && body['stream'] === true)).toBe(true);

      await page.goto(`${at.perch.url}/models`);
      const order = page.getByRole('list', { name: 'Fallbacks' });
      await order.getByRole('button', { name: 'Remove normal' }).click();
      await order.getByRole('button', { name: 'Remove gpt-4o' }).click();
      await order.waitFor({ state: 'detached' });
      await waitFor(async () => !(await set()).includes('fallbacks'), 'none to be set');

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
    },
  );

  verifies(
    ['models.app/local', 'models.app/faults'],
    'a model is downloaded, cancelled, gone on with, used, and deleted',
    async () => {
      const hub = await startHubServer({ 'perch/words': createChatModel('Hello from this very tab', { context: 1024 }) }, {});
      await using _hub = hub;
      using outside = await connectOutside(at.perch);
      await outside.client.call('config.patch', { patch: { models: { hub: hub.env.HF_ENDPOINT } } });
      const page = await at.browser.page(`${at.perch.url}/models#local`);
      await waitForConnection(page, LINKED_STATUS);
      await page.getByText('No local models yet').waitFor();
      const begin = async (repo: string): Promise<void> => {
        await page.getByRole('button', { name: 'Download a model…' }).click();
        await page.getByLabel('Repository').fill(repo);
        await page.getByRole('button', { name: 'Download', exact: true }).click();
      };
      const downloads = page.getByRole('list', { name: 'Downloads' });
      const local = page.getByRole('list', { name: 'Local models' });

      await begin('nonsense');
      await page.getByRole('alert').getByText('Enter the repository as owner/name').waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await begin('perch/none');
      const none = downloads.getByRole('listitem', { name: 'perch/none' });
      await none.getByRole('alert').waitFor();
      await none.getByRole('button', { name: 'Discard' }).click();
      await downloads.waitFor({ state: 'detached' });

      hub.faults.silent = true;
      await begin(`https://hub.example/perch/words/tree/main`);
      const coming = downloads.getByRole('listitem', { name: 'perch/words' });
      await coming.getByRole('progressbar', { name: 'Downloading perch/words' }).waitFor();
      await takeScreenshots(page, 'downloading');
      await coming.getByRole('button', { name: 'Cancel' }).click();
      await coming.getByText(/^Cancelled/).waitFor();
      hub.faults.silent = false;
      await coming.getByRole('button', { name: /^(Retry|Resume)$/ }).click();
      const listedModel = local.getByRole('listitem').filter({ hasText: 'perch/words' });
      await listedModel.getByText(/In this browser · [\d.]+ KB · \S+ context/).waitFor();
      expect(hub.asked.some(({ path }) => path.includes(GRAPH))).toBe(true);

      await listedModel.getByRole('button', { name: 'Make default' }).click();
      await listedModel.getByText('Default', { exact: true }).waitFor();
      await row(page, 'browser/perch/words').waitFor();
      await page.goto(at.perch.url);
      await waitForConnection(page, LINKED_STATUS);
      await page.getByRole('textbox', { name: 'Message' }).fill('Hi');
      await page.getByRole('textbox', { name: 'Message' }).press('Enter');
      await page.getByRole('article', { name: 'Reply' }).getByText('Hello from this very tab').waitFor();

      await page.goto(`${at.perch.url}/models#local`);
      await listedModel.getByRole('button', { name: 'Delete…' }).click();
      const sure = page.getByRole('dialog', { name: /^Delete .*\?$/ });
      await sure.getByRole('button', { name: 'Cancel' }).click();
      await listedModel.getByRole('button', { name: 'Delete…' }).click();
      await sure.getByRole('button', { name: 'Delete', exact: true }).click();
      await listedModel.waitFor({ state: 'detached' });
      expect((await outside.client.call('models.local', {})).models).toEqual([]);
      await page.close();
    },
    60_000,
  );

  verifies(
    'models.app/faults',
    'a key that is stored does not go to another server: it is asked for again, in words, where it is given',
    async () => {
      using outside = await connectOutside(at.perch);
      await outside.client.call('config.patch', {
        patch: { providers: { moved: { name: 'Moved', kind: 'openai', baseUrl: vendor.url, apiKey: 'sk-moved' } } },
      });
      const page = await at.browser.page(`${at.perch.url}/models#providers`);
      await waitForConnection(page, LINKED_STATUS);
      await page.getByRole('listitem').filter({ hasText: 'Moved' }).getByRole('button', { name: 'Edit' }).click();
      const form = page.getByRole('dialog', { name: /Moved/ });
      await form.getByLabel('Base URL').fill(upstream.url);
      await form.getByRole('button', { name: /Save/ }).click();
      const keyAlert = form.getByRole('alert').getByText('Enter the key again');
      await keyAlert.waitFor();
      await waitFor(async () => (await describeFocus(page)) === 'API key', 'the keyboard to be there');
      await takeScreenshots(page, 'key-again');
      await form.getByLabel('API key', { exact: true }).fill('sk-new');
      await keyAlert.waitFor({ state: 'detached' });
      await form.getByRole('button', { name: /Save/ }).click();
      await form.getByRole('status').waitFor();
      // The same server at another path is no other one.
      await form.getByLabel('Base URL').fill(`${upstream.url}/`);
      await form.getByRole('button', { name: 'Test again' }).click();
      await form.getByRole('status').waitFor();
      await outside.client.call('config.patch', { patch: { providers: { moved: null } } });
      await page.close();
    },
  );
});
