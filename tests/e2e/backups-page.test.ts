import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { launchBrowser } from './test-browser.ts';
import { LINKED_STATUS, openLinkedPage, waitForConnection } from './connection-status.ts';
import { startPerch } from './perch-process.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openSettings } from './navigate.ts';

const PASSPHRASE = 'correct horse battery';

describe('backups in the app', () => {
  const at = useGatewayAndBrowser();

  verifies(['backups.app/restore', 'backups.app/faults'], 'made, looked into and brought back, with the keys and without', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const sheet = { width: 100, height: 100 };
    const { id: drawingId } = await client.call('drawings.create', { title: 'The boathouse', ...sheet });
    await openSettings(page, 'Advanced', 'Backups');
    await page.getByText('No backups yet').waitFor();
    // The command that brings back a backup of another machine is read whole on a phone.
    await page.setViewportSize({ width: 360, height: 800 });
    const command = page.getByText('backup restore FILE', { exact: false }).last();
    expect(await command.evaluate((code) => code.scrollWidth - code.clientWidth)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'Back up now' }).click();
    const list = page.getByRole('list', { name: 'Backups' }).getByRole('listitem');
    await list.getByText(/\d+ records?/).waitFor();
    expect(await client.call('backup.status', {})).toMatchObject({ count: 1, backups: [{ secrets: false }] });

    // Data lost since is restored, data created since is kept.
    await client.call('drawings.delete', { drawingId });
    await client.call('drawings.create', { title: 'Made since', ...sheet });
    await list.getByRole('button', { name: 'Restore…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Restore this backup?' });
    const drawings = (cells: string): Promise<void> => dialog.getByRole('row', { name: `Drawings ${cells}`, exact: true }).waitFor();
    await drawings('1');
    await dialog.getByRole('checkbox', { name: 'Also delete items that aren’t in the backup' }).check();
    await drawings('1 1');
    await takeScreenshots(page, 'restore');
    await dialog.getByRole('checkbox', { name: 'Also delete items that aren’t in the backup' }).uncheck();
    await drawings('1');
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Backup restored').first().waitFor();
    const titles = (await client.call('drawings.list', {})).drawings.map(({ title }) => title);
    expect(titles.sort()).toEqual(['Made since', 'The boathouse']);

    // With the keys: two that differ are refused, a wrong one is told.
    await addProvider(client, 'http://127.0.0.1:9', 'sk-backed-up-and-sealed');
    await page.getByRole('checkbox', { name: /Include provider keys/ }).check();
    await page.getByRole('textbox', { name: 'Passphrase', exact: true }).fill(PASSPHRASE);
    await page.getByLabel('Confirm passphrase').fill(`${PASSPHRASE}!`);
    await page.getByText('The passphrases don’t match').waitFor();
    expect(await page.getByRole('button', { name: 'Back up now' }).isDisabled()).toBe(true);
    await page.getByLabel('Confirm passphrase').fill(PASSPHRASE);
    await page.getByRole('button', { name: 'Back up now' }).click();
    await list.getByText('Includes keys').waitFor();
    // A file that is no backup stands there too, and cannot be brought back.
    writeFileSync(join(at.perch.home, 'backups', 'broken.zip'), 'no zip');
    await page.reload();
    const broken = list.filter({ hasText: 'broken.zip' });
    await broken.getByText('Couldn’t use').waitFor();
    expect(await broken.getByRole('button', { name: 'Restore…' }).count()).toBe(0);
    await takeScreenshots(page, 'list');
    await list.filter({ hasText: 'Includes keys' }).getByRole('button', { name: 'Restore…' }).click();
    await dialog.getByRole('textbox', { name: /^Passphrase/ }).fill('wrong horse battery');
    await dialog.getByRole('textbox', { name: /^Passphrase/ }).press('Tab');
    await dialog
      .getByRole('alert')
      .getByText(/wrong passphrase/i)
      .waitFor();
    await takeScreenshots(page, 'refused');
    await dialog.getByRole('textbox', { name: /^Passphrase/ }).fill(PASSPHRASE);
    await dialog.getByRole('textbox', { name: /^Passphrase/ }).press('Tab');
    await dialog.getByText('Everything in this backup is already here').waitFor();
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByText('Nothing to restore').first().waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies(
    'backups.app/faults',
    'while the bridge is away the page says so without an alarm, keeps the list, and goes on by itself',
    async () => {
      await using perch = await startPerch({ host: 'tab' });
      await using browser = await launchBrowser();
      const page = await openLinkedPage(browser, perch);
      await page.goto(`${perch.url}/backups`);
      await waitForConnection(page, LINKED_STATUS);
      const make = page.getByRole('button', { name: 'Back up now' });
      await make.click();
      const list = page.getByRole('list', { name: 'Backups' }).getByRole('listitem');
      await list.getByText(/\d+ records?/).waitFor();
      await perch.kill('SIGKILL');
      await page.getByText('Perch isn’t running on your computer').waitFor();
      await make.waitFor({ state: 'detached' });
      expect([await list.count(), await page.getByRole('alert').count()]).toEqual([1, 0]);
      await takeScreenshots(page, 'away');
      await perch.restart();
      await make.waitFor();
      await page.close();
    },
  );
});
