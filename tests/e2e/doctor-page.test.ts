import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream } from '../test-upstream.ts';
import { openLinkedPage } from './connection-status.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openSettings } from './navigate.ts';

describe('the doctor in the app', () => {
  const at = useGatewayAndBrowser();

  verifies(['doctor.app/checks', 'doctor.app/fixes'], 'faults first, each mended from its row', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await openSettings(page, 'Advanced', 'Doctor');
    const state = page.getByRole('region', { name: 'Gateway status' });
    await state.getByText(/\d+ checks, just now/).waitFor();
    const well = page.getByRole('list', { name: 'Passed' });
    await well.getByRole('listitem', { name: 'Rate limit' }).waitFor();

    // Three faults: a token that others can read, a limit that is off, and a provider that is gone.
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const upstream = await startUpstream({ models: ['normal'] });
    await addProvider(client, upstream.url);
    await upstream.close();
    await client.call('config.set', { key: 'gateway.rateLimit', value: { perMinute: 0, burst: 1 } });
    const token = join(at.perch.home, 'token');
    chmodSync(token, 0o644);
    await page.getByRole('button', { name: 'Run again' }).click();
    await state.getByText(/^2 errors and \d+ warnings?$/).waitFor();
    const mend = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem');
    const report = await client.call('doctor.run', {});
    expect(await mend.count()).toBe(report.summary.warnings + report.summary.failed);
    const states = await mend.locator('.state').allInnerTexts();
    expect(states.slice(0, 2)).toEqual(['Error', 'Error']);
    expect(new Set(states.slice(2))).toEqual(new Set(['Warning']));
    await takeScreenshots(page, 'faults');

    // One by a button that mends it.
    const limit = mend.filter({ hasText: 'Rate limit' });
    await limit.getByRole('button', { name: 'Reset to default' }).click();
    await limit.waitFor({ state: 'detached' });
    expect((await client.call('doctor.run', {})).checks.find(({ id }) => id === 'rate-limit')?.severity).toBe('ok');
    // One by the command that it says.
    const files = mend.filter({ hasText: 'File permissions' });
    const command = await files.locator('code').innerText();
    expect(command).toBe(`chmod 600 '${token}'`);
    chmodSync(token, 0o600);
    expect(statSync(token).mode & 0o777).toBe(0o600);
    await page.getByRole('button', { name: 'Run again' }).click();
    await files.waitFor({ state: 'detached' });
    // One by the way to where it is mended.
    await mend.filter({ hasText: 'Provider Local' }).getByRole('link', { name: 'Open providers' }).click();
    await page.waitForURL(/\/models#providers$/);
    await waitFor(async () => page.getByRole('heading', { name: 'Providers' }).isVisible(), 'the providers to be in sight');
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('doctor.app/fixes', 'a fix that fails says so where it stands', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    // A browser that never agrees.
    await page.addInitScript(() => {
      navigator.storage.persist = () => Promise.resolve(false);
      navigator.storage.persisted = () => Promise.resolve(false);
    });
    await page.goto(`${at.perch.url}/doctor`);
    const storageCheck = page.getByRole('listitem', { name: 'Persistent storage' });
    await storageCheck.getByRole('button', { name: 'Keep my data' }).click();
    await storageCheck.getByRole('alert').getByText('your browser declined').waitFor();

    // A fix that fails says so.
    using outside = await connectOutside(at.perch);
    await outside.client.call('config.patch', { patch: { tools: { mcpServers: { lost: { command: '/no/such/program' } } } } });
    await page.getByRole('button', { name: 'Run again' }).click();
    const lost = page.getByRole('listitem', { name: 'MCP server lost' });
    await lost.getByRole('button', { name: 'Restart' }).click();
    await lost.getByRole('status').getByText('This problem is still there.').waitFor();
    await outside.client.call('config.patch', { patch: { tools: { mcpServers: { lost: null } } } });
    await page.close();
  });
});
