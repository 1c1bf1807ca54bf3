import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { chooseTool, drag, getDrawingId, layer, openPanel, waitUntilSaved } from './annotate-page.ts';
import { launchBrowser } from './test-browser.ts';
import { waitForConnection, openLinkedPage } from './connection-status.ts';
import { startPerch } from './perch-process.ts';
import { holdGatewayLock } from './hold-gateway-lock.ts';
import { connectOutside } from './outside-client.ts';

verifies(
  'annotate/offline',
  'edits made offline survive a reload, and are sent, also from another page of the app',
  async () => {
    await using perch = await startPerch({ host: 'tab' });
    await using browser = await launchBrowser();
    const page = await openLinkedPage(browser, perch);
    await page.goto(`${perch.url}/annotate`);
    await page.getByRole('button', { name: 'Blank canvas' }).click();
    await openPanel(page, 'Layers');
    await waitUntilSaved(page);
    const id = getDrawingId(page);
    /** Nothing while the gateway is not back at the bridge: the page has it earlier. */
    const kinds = async (): Promise<string[]> => {
      using outside = await connectOutside(perch).catch(() => null);
      if (!outside) return [];
      const { changes } = await outside.client.call('drawings.open', { drawingId: id });
      return changes.flatMap(({ set }) => (set.kind && set.kind !== 'page' ? [set.kind] : []));
    };
    /** The gateway is gone, and comes back when it is let. */
    const goOffline = async (): Promise<() => Promise<void>> => {
      const gateway = await holdGatewayLock(await browser.page(`${perch.url}/health`));
      expect(await browser.killSharedWorkers(perch.url)).toBe(1);
      await gateway.acquired;
      return gateway.letGo;
    };

    const letReturn = await goOffline();
    await chooseTool(page, 'Rectangle');
    await drag(page, [0.5, 0.5], [0.6, 0.6]);
    await layer(page, 'Rectangle').waitFor();
    await page.locator('[data-saving=offline]').getByText('Offline, saved on this device').waitFor();
    await page.reload();
    await letReturn();
    await layer(page, 'Rectangle').waitFor();
    await waitUntilSaved(page);
    await waitForConnection(page, 'This browser');
    await waitFor(async () => (await kinds()).includes('rect'), 'the gateway to have what was drawn meanwhile', 30_000);

    // Gone again, and the drawing is left: what waits is sent from any page.
    const letReturnAgain = await goOffline();
    await chooseTool(page, 'Ellipse');
    await drag(page, [0.3, 0.6], [0.4, 0.7]);
    await page.locator('[data-saving=offline]').waitFor();
    await page.getByRole('link', { name: 'All drawings' }).click();
    await page.getByRole('link', { name: 'Knowledge' }).click();
    await page.waitForURL(/\/memory$/);
    await letReturnAgain();
    await waitForConnection(page, 'This browser');
    await waitFor(async () => (await kinds()).includes('ellipse'), 'the gateway to have it without the drawing being opened', 30_000);
    expect(new URL(page.url()).pathname).toBe('/memory');
  },
  180_000,
);
