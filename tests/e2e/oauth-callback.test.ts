import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { OAUTH_CALLBACK_PATH } from '#shared/oauth-callback-path.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startOauthServer } from '../support/oauth-server.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { waitForConnection, openLinkedPage } from './connection-status.ts';

/** Consent page of the other service; it responds through a form, as most do. */
const startConsentPage = (address: string): string =>
  `<!doctype html><title>Another service</title><form method="post" action="${address.replaceAll('&', '&amp;')}"><button>Allow</button></form>`;

/** The page at the sizes and in the colours that it is looked at, for whoever wants to see. */
async function takeScreenshots(page: Page, name: string): Promise<void> {
  for (const width of [360, 1280])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 720 });
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/oauth-${name}-${width}-${colorScheme}.png` });
    }
}

describe('the return from another service', () => {
  const at = useGatewayAndBrowser();

  verifies(
    ['oauth/callback', 'oauth/page'],
    'in a real browser that has the app’s service worker: the bridge answers, once, and to nothing that a page loads by itself',
    async () => {
      await using other = await startOauthServer();
      other.metadata = { authorization_endpoint: `${other.issuer}/consent` };
      other.instead.set('/consent', ({ url }) => ({
        headers: { 'content-type': 'text/html' },
        body: startConsentPage((url ?? '').replace('/consent', '/authorize')),
      }));
      const app = await openLinkedPage(at.browser, at.perch);
      await app.evaluate(() => navigator.serviceWorker.ready.then(() => true));
      await app.reload();
      expect(await app.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);

      // Only the host that makes a link knows it, and the tab takes over from the managed Chromium.
      await waitForConnection(app, 'This browser');
      const client = await at.perch.client();
      await client.call('config.set', { key: 'tools.mcpServers.far', value: { url: other.url } });
      const state = async (): Promise<unknown> => (await client.call('mcp.list', {})).servers.find(({ name }) => name === 'far')?.state;
      await waitFor(async () => (await state()) === 'unauthorized', 'the server to want permission', 30_000);
      const { url } = await client.call('mcp.authorize', { name: 'far' });
      const callback = new URL(url).searchParams.get('redirect_uri') ?? '';
      expect(callback).toBe(`${at.perch.url}${OAUTH_CALLBACK_PATH}`);

      // Pages that are merely open try the link: another's, and the app itself.
      const link = `${callback}?code=a&state=${new URL(url).searchParams.get('state')}`;
      const page = await at.browser.page(url);
      const statuses: number[] = [];
      for (const each of [page, app]) each.on('response', (response) => void (response.url() === link && statuses.push(response.status())));
      for (const each of [page, app])
        await each.evaluate(
          (address) =>
            Promise.all([
              fetch(address, { mode: 'no-cors' }).catch(() => {}),
              new Promise((resolve) => Object.assign(new Image(), { src: address, onload: resolve, onerror: resolve })),
            ]),
          link,
        );
      await page.evaluate(
        (address) =>
          new Promise((resolve) =>
            document.body.append(Object.assign(document.createElement('iframe'), { src: address, onload: resolve })),
          ),
        link,
      );
      // Requests that the app’s own policy allows are refused like the rest.
      expect(statuses.length).toBeGreaterThan(2);
      expect(new Set(statuses)).toEqual(new Set([403]));

      // The link is as good as before: nobody has used it up.
      const [back] = await Promise.all([
        page.waitForResponse((response) => response.url().startsWith(callback) && response.request().isNavigationRequest()),
        page.getByRole('button', { name: 'Allow' }).click(),
      ]);
      expect([back.status(), back.fromServiceWorker()]).toEqual([200, false]);
      await page.getByRole('heading', { name: 'Connected' }).waitFor();
      await page.getByText('MCP server far is connected. You can close this window.').waitFor();
      await takeScreenshots(page, 'done');
      await waitFor(async () => (await state()) === 'ready', 'the server’s tools', 30_000);

      // Once more, by the browser's own button: good once.
      await page.reload();
      await page.getByRole('heading').waitFor();
      await takeScreenshots(page, 'again');
      expect(at.perch.output.stderr).not.toContain('code=');
      client.close();
    },
    120_000,
  );
});
