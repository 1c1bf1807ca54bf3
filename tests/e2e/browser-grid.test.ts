import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { browserPort } from '#shared/ports/browser-port.ts';
import { createDriverProcess } from '../../bridge/capabilities/browser/driver-process.ts';
import { findDrivenBrowser } from '../../bridge/headless/find-browser.ts';
import { ProcessKeeper } from '../../bridge/processes/process-keeper.ts';
import { verifies } from '../requirements.ts';
import { startCdpGrid } from '../support/cdp-grid.ts';
import { FakeBridge, createCapability } from '../support/fake-bridge.ts';
import { waitFor } from '../support/test-gateway.ts';

verifies(
  'operations/browsers',
  'a grid starts a browser for each profile, which ends with it; a lost one is restarted; a full grid and a wrong token are reported',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'perch-grid-'));
    const site = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<title>A page</title>'));
    await once(site.listen(0, '127.0.0.1'), 'listening');
    const siteAddress = `127.0.0.1:${(site.address() as AddressInfo).port}`;
    const url = `http://${siteAddress}/`;
    const browsers = createDriverProcess({ dir: join(dir, 'profiles'), log: () => {}, keeper: new ProcessKeeper(() => {}) });
    const bridge = new FakeBridge(createCapability(browserPort, browsers.handlers));
    try {
      await using grid = await startCdpGrid({ executable: (await findDrivenBrowser()) ?? '', token: 'hush-hush', maxSessions: 2 });
      await bridge.call(browserPort, 'browser.allow', { places: [siteAddress], cdpEndpoint: grid.url });
      for (const name of ['research', 'shopping', 'third']) await bridge.call(browserPort, 'browser.createProfile', { name });
      const evaluate = async (profile: string, fn: string): Promise<unknown> =>
        (await bridge.call(browserPort, 'browser.evaluate', { fn, profile })).result;
      for (const profile of ['research', 'shopping']) await bridge.call(browserPort, 'browser.open', { url, profile });
      expect(grid.runningCount).toBe(2);
      await evaluate('research', 'document.cookie = "who=research"');
      expect(await evaluate('research', 'document.cookie')).toBe('who=research');
      expect(await evaluate('shopping', 'document.cookie')).toBe('');
      expect(await bridge.call(browserPort, 'browser.status', { profile: 'research' })).toMatchObject({ started: true, remote: true });
      // No more than the grid has; what it answers is told without the token.
      const refused: unknown = await bridge.call(browserPort, 'browser.open', { url, profile: 'third' }).catch((error: unknown) => error);
      expect(refused).toMatchObject({
        code: 'INTERNAL_ERROR',
        message: expect.stringMatching(/Couldn’t control the browser at browser\.cdpEndpoint.*429/),
      });
      expect(String(refused)).not.toContain('hush-hush');
      await bridge.call(browserPort, 'browser.stop', { profile: 'shopping' });
      await waitFor(() => grid.runningCount === 1, 'the browser of a profile that was stopped, ended');
      expect(await bridge.call(browserPort, 'browser.open', { url, profile: 'third' })).toMatchObject({ title: 'A page' });
      grid.dropConnections();
      await waitFor(async () => !(await bridge.call(browserPort, 'browser.status', { profile: 'research' })).started, 'the loss, noticed');
      await waitFor(() => grid.runningCount === 0);
      expect(await bridge.call(browserPort, 'browser.open', { url, profile: 'research' })).toMatchObject({ title: 'A page' });
      expect(grid.runningCount).toBe(1);
      const before = grid.refusedCount;
      await bridge.call(browserPort, 'browser.allow', { places: [siteAddress], cdpEndpoint: grid.url.replace('hush-hush', 'wrong') });
      await expect(bridge.call(browserPort, 'browser.open', { url, profile: 'research' })).rejects.toMatchObject({
        code: 'INTERNAL_ERROR',
      });
      expect(grid.refusedCount).toBeGreaterThan(before);
      await waitFor(() => grid.runningCount === 0, 'the browsers of another address, let go');
    } finally {
      await browsers.close();
      site.close();
      rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    }
  },
  180_000,
);
