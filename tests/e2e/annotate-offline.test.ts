import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { choose, drag, idOf, layer, panel, saved } from './annotate-page.ts';
import { launchBrowser } from './browser.ts';
import { connected, linkedPage } from './connected.ts';
import { startPerch } from './harness.ts';
import { holdBack } from './hold-back.ts';
import { connectOutside } from './outside.ts';

verifies(
  'annotate/offline',
  'edits made offline survive a reload, and are sent, also from another page of the app',
  async () => {
    await using perch = await startPerch({ host: 'tab' });
    await using browser = await launchBrowser();
    const page = await linkedPage(browser, perch);
    await page.goto(`${perch.url}/annotate`);
    await page.getByRole('button', { name: 'Blank canvas' }).click();
    await panel(page, 'Layers');
    await saved(page);
    const id = idOf(page);
    /** Nothing while the gateway is not back at the bridge: the page has it earlier. */
    const kinds = async (): Promise<string[]> => {
      using outside = await connectOutside(perch).catch(() => null);
      if (!outside) return [];
      const { changes } = await outside.client.call('drawings.open', { drawingId: id });
      return changes.flatMap(({ set }) => (set.kind && set.kind !== 'page' ? [set.kind] : []));
    };
    /** The gateway is gone, and comes back when it is let. */
    const gone = async (): Promise<() => Promise<void>> => {
      const gateway = await holdBack(await browser.page(`${perch.url}/health`));
      expect(await browser.killSharedWorkers(perch.url)).toBe(1);
      await gateway.held;
      return gateway.letGo;
    };

    const letReturn = await gone();
    await choose(page, 'Rectangle');
    await drag(page, [0.5, 0.5], [0.6, 0.6]);
    await layer(page, 'Rectangle').waitFor();
    await page.locator('[data-saving=offline]').getByText('Offline, saved on this device').waitFor();
    await page.reload();
    await letReturn();
    await layer(page, 'Rectangle').waitFor();
    await saved(page);
    await connected(page, 'This browser');
    await until(async () => (await kinds()).includes('rect'), 'the gateway to have what was drawn meanwhile', 30_000);

    // Gone again, and the drawing is left: what waits is sent from any page.
    const letReturnAgain = await gone();
    await choose(page, 'Ellipse');
    await drag(page, [0.3, 0.6], [0.4, 0.7]);
    await page.locator('[data-saving=offline]').waitFor();
    await page.getByRole('link', { name: 'Memory' }).click();
    await page.waitForURL(/\/memory$/);
    await letReturnAgain();
    await connected(page, 'This browser');
    await until(async () => (await kinds()).includes('ellipse'), 'the gateway to have it without the drawing being opened', 30_000);
    expect(new URL(page.url()).pathname).toBe('/memory');
  },
  180_000,
);
