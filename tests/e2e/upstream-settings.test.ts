import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { waitForConnection } from './connection-status.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

const HELLO = 'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

describe('slow and failing servers', () => {
  const at = useGatewayAndBrowser();
  let server: Server;
  let well = false;
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url?.endsWith('/models')) return response.end(JSON.stringify({ data: [{ id: 'm', object: 'model' }] }));
      if (!well) return response.writeHead(501).end('{}');
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(HELLO);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => void server.close());

  verifies(['app/upstream-settings', 'app/resting'], 'are waited for as it is set; one that rests is tried at once', async () => {
    using outside = await connectOutside(at.perch);
    await addProvider(outside.client, `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, 'sk-x');
    const set = async (): Promise<unknown> => (await outside.client.call('config.get', { key: 'gateway.upstream' })).value;
    const page = await at.browser.page(at.perch.linkUrl);
    await waitForConnection(page, 'This browser');
    await page.goto(`${at.perch.url}/settings#upstream`);
    await waitForConnection(page, 'This browser');

    const failures = page.getByLabel('Failures in a row');
    const save = page.getByRole('region', { name: 'Timeouts and retries' }).getByRole('button', { name: 'Save', exact: true });
    expect(await failures.getAttribute('placeholder')).toBe('5');
    expect(await save.isDisabled()).toBe(true);
    await page.getByLabel('First token').fill('0.5');
    await failures.fill('2');
    await save.click();
    await page.getByText('Enter a value from 1 s to 3,600 s.').waitFor();
    await takeScreenshots(page, 'bad');
    await page.getByLabel('First token').fill('90.5');
    await save.click();
    await page.getByText('Saved.').waitFor();
    expect(await set()).toEqual({ firstByteMs: 90_500, failures: 2 });
    await page.getByRole('button', { name: 'Reset to 60 s' }).click();
    await waitFor(async () => JSON.stringify(await set()) === '{"failures":2}', 'the default');
    // Settings changed elsewhere are shown; unsaved input is kept.
    await page.getByLabel('Idle').fill('7');
    await outside.client.call('config.set', { key: 'gateway.upstream.pauseMs', value: 600_000 });
    await waitFor(async () => (await page.getByLabel('Cool-down').inputValue()) === '600', 'the new rest');
    expect(await page.getByLabel('Idle').inputValue()).toBe('7');
    await takeScreenshots(page, 'set');

    const measureRequest = async (): Promise<number> => {
      const body = JSON.stringify({ model: 'local/m', messages: [{ role: 'user', content: 'Hi' }] });
      return (await at.perch.fetch('/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body }))
        .status;
    };
    expect([await measureRequest(), await measureRequest(), await measureRequest()]).toEqual([502, 502, 503]);
    await page.goto(`${at.perch.url}/models`);
    await waitForConnection(page, 'This browser');
    await page.getByRole('button', { name: 'Find local servers' }).click();
    await page.getByText(/^Paused until .* after 2 failures in a row$/).waitFor();
    const wake = page.getByRole('button', { name: 'Retry now' });
    await wake.click();
    await page.getByText(/^Paused until .* after 3 failures in a row$/).waitFor();
    await page.getByText(/^Could.* connect to /).waitFor();
    await wake.scrollIntoViewIfNeeded();
    await takeScreenshots(page, 'resting');
    well = true;
    await wake.click();
    await wake.waitFor({ state: 'detached' });
    await page.getByText('Connected, 1 model').first().waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
