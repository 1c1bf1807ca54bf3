import { mkdtemp, rm } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { createSelfSigned } from '../support/self-signed-certificate.ts';
import { findOverflow, waitForNoProblems } from './accessibility.ts';
import { launchBrowser } from './test-browser.ts';
import { waitForConnection, LINKED_STATUS } from './connection-status.ts';
import { runPerch as command, startPerch } from './perch-process.ts';
import { takeScreenshots } from './take-screenshots.ts';

const own = Object.values(networkInterfaces())
  .flat()
  .find((entry) => entry?.family === 'IPv4' && !entry.internal)?.address;

describe.skipIf(own === undefined)('over HTTPS', () => {
  verifies(
    ['tls/app', 'tls/phone', 'device/page'],
    'another machine’s browser opens the app by the link that is printed, has the same chats, and serves where no other does',
    async () => {
      const dir = await mkdtemp(join(tmpdir(), 'perch-tls-'));
      const address = own ?? '';
      const { cert, key } = await createSelfSigned(dir, [`IP:${address}`]);
      await using perch = await startPerch({ host: 'tab', args: ['--bind', '0.0.0.0', '--expose', '--tls-cert', cert, '--tls-key', key] });
      const port = new URL(perch.url).port;
      const printed = /^Network {4}(\S+)$/m.exec(perch.output.stdout)?.[1] ?? '';
      expect(printed).toMatch(new RegExp(`^https://${address.replaceAll('.', '\\.')}:${port}/#link=[\\w-]{22}$`));

      // Trusted as a person has their phone trust it. A browser with a profile of its own is another machine's for all that matters here.
      await using phone = await launchBrowser({ args: ['--ignore-certificate-errors'], viewport: { width: 390, height: 800 } });
      const page = await phone.page(printed);
      await waitForConnection(page, LINKED_STATUS);
      expect(page.url()).toBe(`https://${address}:${port}/`);
      const composer = page.getByRole('textbox', { name: 'Message' });
      await composer.fill('What can you do?');
      await composer.press('Enter');
      await page.getByRole('article', { name: 'Reply' }).getByRole('button', { name: 'Copy reply' }).waitFor();
      await takeScreenshots(page, 'phone');
      expect(await waitForNoProblems(() => findOverflow(page), 'too wide')).toEqual([]);

      // This machine's own tab, at its own origin, has the same chat.
      await using browser = await launchBrowser();
      const tab = await browser.page(perch.linkUrl);
      await waitForConnection(tab, /^(Connected|This browser)$/);
      await waitFor(async () => (await tab.getByRole('link', { name: 'What can you do?' }).count()) > 0, 'the chat of the phone');

      // The page tells how others get in.
      await page.goto(`https://${address}:${port}/devices`);
      await page.getByRole('button', { name: 'Pair a device…' }).click();
      await page.getByRole('textbox', { name: 'Device name' }).fill('A watch');
      await page.getByRole('button', { name: 'Show code' }).click();
      await page.getByText('To open Perch on a phone, run').waitFor();
      await page.getByText(`wss://${address}:${port}/ws#pair=`).waitFor();
      await takeScreenshots(page, 'pair-tls');
      const opened = await command(['open', '--qr', '--port', port], { PERCH_HOME: perch.home });
      const last = opened.stdout.trimEnd().split('\n').at(-1) ?? '';
      expect(last).toMatch(new RegExp(`^https://${address.replaceAll('.', '\\.')}:${port}/#link=`));
      expect(opened.stdout.split('\n').length).toBeGreaterThan(15);
      expect(phone.foreignRequests).toEqual([]);
      await rm(dir, { recursive: true, force: true });
    },
    180_000,
  );
});
