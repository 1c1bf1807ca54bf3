import jsqr from 'jsqr';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { GatewayClient, socketLink } from '../../shared/client/index.ts';
import { verifies } from '../requirements.ts';
import { createTestDevice } from '../support/test-device.ts';
import { waitFor } from '../support/test-gateway.ts';
import { findLowContrast, findOverflow } from './accessibility.ts';
import { launchBrowser } from './test-browser.ts';
import { waitForConnection } from './connection-status.ts';
import { startPerch } from './perch-process.ts';
import { takeScreenshots } from './take-screenshots.ts';

/** The QR code as a phone's camera reads it: from the picture of the page, not its markup. */
async function readQrCode(page: Page): Promise<string> {
  const png = await page.getByRole('img', { name: 'QR code with the pairing link' }).screenshot();
  const { data, width, height } = await page.evaluate(
    async (bytes) => {
      const picture = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: 'image/png' }));
      const context = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
      context?.drawImage(picture, 0, 0);
      const pixels = context?.getImageData(0, 0, picture.width, picture.height);
      return { data: [...(pixels?.data ?? [])], width: picture.width, height: picture.height };
    },
    [...png],
  );
  const found = jsqr.default(new Uint8ClampedArray(data), width, height);
  if (!found) throw new Error('no QR code can be read from the picture');
  return found.data;
}

const connect = (address: string, auth: Record<string, string>): Promise<GatewayClient> =>
  GatewayClient.connect(socketLink(new WebSocket(address)), { params: { clientName: 'phone', auth } });

async function openPairingPage(page: Page, url: string, name: string): Promise<void> {
  await waitForConnection(page, 'Connected');
  await page.goto(`${url}/devices`);
  await page.getByRole('button', { name: 'Pair a device…' }).click();
  await page.getByRole('textbox', { name: 'Device name' }).fill(name);
  await page.getByRole('button', { name: 'Show code' }).click();
}

verifies(
  'device/page',
  'a code is scanned off the screen, in light and dark, lets a device in from outside, once; it is listed, and revoked',
  async () => {
    await using perch = await startPerch({ host: 'headless', args: ['--bind', '0.0.0.0', '--expose'] });
    await using browser = await launchBrowser();
    const page = await browser.page(perch.linkUrl);
    await openPairingPage(page, perch.url, 'A phone');
    const link = await readQrCode(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await readQrCode(page)).toBe(link);
    await takeScreenshots(page, 'pair');
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await waitFor(
        async () => [...(await findOverflow(page)), ...(await findLowContrast(page))].length === 0,
        `nothing cut off or pale, ${width}`,
      );
    }

    // Honest about what it is for.
    await page.getByText('To open Perch in a phone’s browser').waitFor();

    const { hostname, hash } = new URL(link);
    expect(hostname).not.toBe('127.0.0.1');
    const code = new URLSearchParams(hash.slice(1)).get('pair') ?? '';
    expect(await page.getByLabel('Pairing code', { exact: true }).textContent()).toBe(code);
    const address = link.replace(/#.*/, '');
    const device = await createTestDevice('P-256');
    const pairing = await connect(address, { pairingCode: code });
    const { deviceToken } = await pairing.call('device.complete', { code, response: await device.response(code) });
    await page.getByText('A phone is paired.').waitFor();
    await expect(connect(address, { pairingCode: code })).rejects.toThrow(
      'The pairing code is wrong, already used or expired. Create a new one.',
    );
    await page.getByRole('button', { name: 'Close', exact: true }).last().click();
    const phone = await connect(address, { deviceToken });
    expect(await phone.call('health', {})).toMatchObject({ status: 'ok' });

    const row = page.getByRole('listitem').filter({ hasText: 'A phone' });
    await row.getByText('Read and write').waitFor();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    expect(await phone.closed).toMatchObject({ code: 1008 });
    expect(browser.complaints).toEqual([]);
  },
  120_000,
);

verifies(
  'device/page',
  'a gateway reachable only from this machine says so and shows no QR code; an expired code says so, and is replaced',
  async () => {
    await using perch = await startPerch({ host: 'headless' });
    await using browser = await launchBrowser();
    const page = await browser.page(perch.linkUrl);
    await waitForConnection(page, 'Connected');
    await page.clock.install();
    await openPairingPage(page, perch.url, 'A program');
    await page.getByText('Only apps on this computer can use this code').waitFor();
    expect(await page.getByRole('img', { name: 'QR code with the pairing link' }).count()).toBe(0);
    const code = await page.getByLabel('Pairing code', { exact: true }).textContent();
    expect(code).toMatch(/^[2-9A-Z]{8}$/);
    await page.clock.fastForward('05:01');
    await page.getByText('This code has expired').waitFor();
    await page.getByRole('button', { name: 'New code' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
  },
  60_000,
);
