import type { Page } from 'playwright';
import { afterAll, beforeAll, expect } from 'vitest';
import { GatewayClient, socketLink } from '../../shared/client/index.ts';
import { verifies } from '../requirements.ts';
import { createTestDevice } from '../support/test-device.ts';
import { waitFor } from '../support/test-gateway.ts';
import { describeFocus, findLowContrast, findOverflow } from './accessibility.ts';
import { waitForConnection } from './connection-status.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { type Perch, startPerch } from './perch-process.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openVaultMenu } from './vault-menu.ts';

// The managed Chromium serves; a tab stands by. So the device is paired at one host, and revoked at another.
let perch: Perch;
let browser: TestBrowser;
beforeAll(async () => {
  perch = await startPerch({ host: 'headless' });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await perch?.[Symbol.asyncDispose]();
});

const connect = (auth: Record<string, string>): Promise<GatewayClient> =>
  GatewayClient.connect(socketLink(new WebSocket(perch.wsUrl)), { params: { clientName: 'phone', auth } });

async function pairDevice(deviceName: string, kind: 'Ed25519' | 'P-256', owner: GatewayClient): Promise<string> {
  const { code } = await owner.call('device.initiate', { deviceName, scopes: ['read'] });
  const phone = await connect({ pairingCode: code });
  await expect(phone.call('health', {})).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  const { deviceToken } = await phone.call('device.complete', { code, response: await (await createTestDevice(kind)).response(code) });
  phone.close();
  return deviceToken;
}

verifies(
  ['device/token', 'device.revoke/closes', 'device.list/seen', 'device/mirror'],
  'phones are paired, come in, and are revoked on the page of another browser',
  async () => {
    const owner = await perch.client();
    const token = await pairDevice('A phone', 'P-256', owner);
    const other = await pairDevice(`A program with a long name ${'x'.repeat(60)}`, 'Ed25519', owner);
    await expect(connect({ pairingCode: 'AAAA-AAAA' })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    const phone = await connect({ deviceToken: token });
    const program = await connect({ deviceToken: other });
    await expect(phone.call('chat.send', { message: 'hi' })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });

    const page: Page = await browser.page(perch.linkUrl);
    await waitForConnection(page, 'Connected');
    await page.goto(`${perch.url}/devices`);
    const row = page.getByRole('listitem').filter({ hasText: 'A phone' });
    await row.getByText('Connected').waitFor();
    await row.getByText('Read only ·').waitFor();
    const vault = page.getByRole('button', { name: /^My vault Synced.* Connection: Connected$/ });
    await vault.waitFor();
    const panel = await openVaultMenu(page);
    await panel.getByText('Connected to the active gateway through the local service.').waitFor();
    await panel.getByRole('link', { name: /^Devices and sync/ }).click();
    await panel.waitFor({ state: 'detached' });
    await page.waitForURL(/\/devices$/);
    const gateways = page.locator('#hosts');
    await gateways.getByText('This browser', { exact: true }).waitFor();
    expect(await gateways.innerText()).not.toContain('Build');
    for (const width of [1280, 360]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        if (width === 360) {
          await page.getByRole('button', { name: 'Show sidebar' }).click();
          await vault.waitFor();
          await page.keyboard.press('Escape');
          await vault.waitFor({ state: 'detached' });
          // The header says something of the connection only if it does not work.
          expect(await page.getByRole('button', { name: /^Connection/ }).count()).toBe(0);
        }
        await row.scrollIntoViewIfNeeded();
        if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/devices-${width}-${colorScheme}.png` });
        const findProblems = async () => [...(await findOverflow(page)), ...(await findLowContrast(page))];
        await waitFor(async () => (await findProblems()).length === 0, `nothing cut off or pale, ${width} ${colorScheme}`);
      }
    }
    await row.getByRole('button', { name: 'Revoke' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke A phone?' });
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/devices-revoke.png` });
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
    expect(await phone.closed).toMatchObject({ code: 1008, reason: 'access was revoked' });
    await row.waitFor({ state: 'detached' });
    // The keyboard is on the next one.
    await waitFor(async () => (await describeFocus(page)) === 'Revoke…', 'the focus to move on');
    await expect(connect({ deviceToken: token })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await waitFor(async () => (await owner.call('device.list', {})).count === 1, 'the host that serves to hear of it');
    expect(await program.call('health', {})).toMatchObject({ status: 'ok' });

    // A bridge that starts again knows whom to let in.
    await perch.restart();
    const again = await connect({ deviceToken: other });
    expect(await again.call('health', {})).toMatchObject({ status: 'ok' });
    await expect(connect({ deviceToken: token })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  },
  120_000,
);

verifies(
  ['device.unlink/closes', 'device.unlink/page'],
  'a browser that was linked is cut off on the page of another one, and says what happened',
  async () => {
    await using lost = await launchBrowser();
    await using linkedBrowser = await launchBrowser();
    const one = await lost.page(await perch.open());
    const two = await linkedBrowser.page(await perch.open());
    for (const page of [one, two]) await waitForConnection(page, 'Connected');
    await two.goto(`${perch.url}/devices`);
    const section = two.getByRole('region', { name: 'Paired browsers' });
    const own = section.getByRole('listitem').filter({ hasText: 'This browser' });
    await own.getByText('Connected').waitFor();
    await own.scrollIntoViewIfNeeded();
    await takeScreenshots(two, 'linked');
    const rows = section.getByRole('listitem');
    const count = await rows.count();
    // The newest but its own.
    const row = rows.nth(count - 2);
    await row.getByText('Connected').waitFor();
    await row.getByRole('button', { name: 'Revoke' }).click();
    const dialog = two.getByRole('dialog', { name: /^Revoke Chrome/ });
    await dialog.getByText('It keeps its copy of your data').waitFor();
    await takeScreenshots(two, 'unlink');
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
    await waitFor(async () => (await rows.count()) === count - 1, 'it to be gone from the list');
    await waitForConnection(one, 'This browser');
    await openVaultMenu(one);
    await one.getByText('This browser is no longer paired with Perch on your computer.').first().waitFor();
    await takeScreenshots(one, 'unlinked');
    await own.getByText('Connected').waitFor();
  },
  120_000,
);
