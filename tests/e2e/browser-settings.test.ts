import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { findLowContrast, findOverflow } from './accessibility.ts';
import { waitForConnection, LINKED_STATUS } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

describe('settings of the agents’ browser', () => {
  const at = useGatewayAndBrowser();
  const site = createServer((_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Mine</title>'));
  let place = '';
  beforeAll(async () => {
    await once(site.listen(0, '127.0.0.1'), 'listening');
    place = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  });
  afterAll(() => void site.close());

  verifies(
    'browser.app/settings',
    'a private place is refused, allowed and refused again; another browser is named, and no more',
    async () => {
      using outside = await connectOutside(at.perch);
      const set = async (): Promise<Record<string, unknown>> =>
        (await outside.client.call('config.get', { key: 'browser' }).catch(() => ({ value: {} }))).value as Record<string, unknown>;
      /** The page shows it before the gateway has it. */
      const isSet = (name: string, value: unknown): Promise<void> =>
        waitFor(async () => JSON.stringify((await set())[name]) === JSON.stringify(value), `${name} to be set so`);
      const page = await at.browser.page(at.perch.linkUrl);
      await waitForConnection(page, LINKED_STATUS);
      await page.goto(`${at.perch.url}/browser`);
      await waitForConnection(page, LINKED_STATUS);
      await page.getByRole('button', { name: 'Start browser' }).click();
      const address = page.getByRole('textbox', { name: 'Address' });
      await address.fill('http://192.168.255.1/');
      await address.press('Enter');
      const refused = page.getByRole('alert').filter({ hasText: 'add it to the setting browser.allow' });
      await refused.waitFor();
      await takeScreenshots(page, 'refused');
      await refused.getByRole('link', { name: 'Browser settings' }).click();
      await page.waitForURL(/\/settings\/privacy#browser$/);

      const part = page.locator('#browser');
      const added = part.getByLabel('Host, or host and port');
      await part.getByText('Public web only (default)').waitFor();
      await added.fill('my nas');
      await added.press('Enter');
      await part.getByText('Enter a host such as').waitFor();
      expect(await added.evaluate((field) => field === document.activeElement)).toBe(true);
      await added.fill(`http://${place}/some/page`);
      await added.press('Enter');
      const list = part.getByRole('list', { name: 'Private network access' });
      await list.getByText(place, { exact: true }).waitFor();
      await isSet('allow', [place]);
      expect(await added.inputValue()).toBe('');
      await added.fill(place);
      await added.press('Enter');
      await part.getByText(`${place} is already listed.`).waitFor();
      // Settings changed elsewhere are shown here, and kept.
      await outside.client.call('config.set', { key: 'browser.allow', value: [place, 'nas.local'] });
      await list.getByText('nas.local').waitFor();
      await takeScreenshots(page, 'settings');
      for (const width of [320, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await waitFor(
          async () => [...(await findOverflow(page)), ...(await findLowContrast(page))].length === 0,
          `nothing cut off or pale, ${width}`,
        );
      }

      await page.goto(`${at.perch.url}/browser`);
      await waitForConnection(page, LINKED_STATUS);
      await address.fill(`http://${place}/`);
      await address.press('Enter');
      await page.getByRole('list', { name: 'Tabs' }).getByRole('button', { name: 'Mine', exact: true }).waitFor();
      await page.goto(`${at.perch.url}/settings#browser`);
      await waitForConnection(page, LINKED_STATUS);
      await list.getByRole('button', { name: `Remove ${place}` }).click();
      await list.getByText(place, { exact: true }).waitFor({ state: 'detached' });
      await isSet('allow', ['nas.local']);
      await part.getByRole('button', { name: 'Reset to default' }).click();
      await part.getByText('Public web only (default)').waitFor();
      await isSet('allow', undefined);

      // A place on this computer is asked for once.
      await page.goto(`${at.perch.url}/browser`);
      await waitForConnection(page, LINKED_STATUS);
      await address.fill(`http://${place}/asked`);
      await address.press('Enter');
      const approvalItems = page.getByRole('list', { name: 'Approvals' }).getByRole('listitem');
      await approvalItems.getByText(`open ${place} from now on`).waitFor();
      expect(await approvalItems.getByRole('button', { name: /always/i }).count()).toBe(0);
      await takeScreenshots(page, 'asked');
      await approvalItems.getByRole('button', { name: 'Allow', exact: true }).click();
      await page.getByRole('list', { name: 'Tabs' }).getByRole('button', { name: 'Mine', exact: true }).last().waitFor();
      await approvalItems.waitFor({ state: 'detached' });
      await isSet('allow', [place]);
      await outside.client.call('config.set', { key: 'browser.allow', value: null });
      await page.goto(`${at.perch.url}/settings#browser`);
      await waitForConnection(page, LINKED_STATUS);
      await part.getByText('Public web only (default)').waitFor();

      const endpoint = part.getByLabel('DevTools URL');
      await part.getByText('Using the browser on your computer (default)').waitFor();
      await endpoint.fill('nas.local:9222');
      await endpoint.press('Enter');
      await part.getByText('Enter a URL that starts with').waitFor();
      await endpoint.fill('ws://127.0.0.1:9/?token=hush');
      await endpoint.press('Enter');
      await part.getByText('Using a remote browser').waitFor();
      await isSet('cdpEndpoint', '***');
      expect(await outside.client.call('browser.status', {})).toMatchObject({ remote: true });
      await page.reload();
      await part.getByText('Using a remote browser').waitFor();
      expect(await page.content()).not.toContain('hush');
      await part.getByRole('button', { name: 'Use local browser' }).click();
      await part.getByText('Using the browser on your computer (default)').waitFor();
      await isSet('cdpEndpoint', undefined);
      expect(await outside.client.call('browser.status', {})).toMatchObject({ remote: false });
      expect(at.browser.complaints).toEqual([]);
      await page.close();
    },
    120_000,
  );
});
