import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { connected } from './connected.ts';
import { addProvider, connectOutside } from './outside.ts';
import { served } from './served.ts';
import { shoot } from './shoot.ts';

const HELLO = 'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

describe('slow and failing servers', () => {
  const at = served();
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
    await connected(page, 'This browser');
    await page.goto(`${at.perch.url}/settings#upstream`);
    await connected(page, 'This browser');

    const failures = page.getByLabel('Failures in a row');
    const save = page.getByRole('region', { name: 'Timeouts and retries' }).getByRole('button', { name: 'Save', exact: true });
    expect(await failures.getAttribute('placeholder')).toBe('5');
    expect(await save.isDisabled()).toBe(true);
    await page.getByLabel('First token').fill('0.5');
    await failures.fill('2');
    await save.click();
    await page.getByText('Enter a value from 1 s to 3,600 s.').waitFor();
    await shoot(page, 'bad');
    await page.getByLabel('First token').fill('90.5');
    await save.click();
    await page.getByText('Saved.').waitFor();
    expect(await set()).toEqual({ firstByteMs: 90_500, failures: 2 });
    await page.getByRole('button', { name: 'Reset to 60 s' }).click();
    await until(async () => JSON.stringify(await set()) === '{"failures":2}', 'the default');
    // Settings changed elsewhere are shown; unsaved input is kept.
    await page.getByLabel('Idle').fill('7');
    await outside.client.call('config.set', { key: 'gateway.upstream.pauseMs', value: 600_000 });
    await until(async () => (await page.getByLabel('Cool-down').inputValue()) === '600', 'the new rest');
    expect(await page.getByLabel('Idle').inputValue()).toBe('7');
    await shoot(page, 'set');

    const ask = async (): Promise<number> => {
      const body = JSON.stringify({ model: 'local/m', messages: [{ role: 'user', content: 'Hi' }] });
      return (await at.perch.fetch('/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body }))
        .status;
    };
    expect([await ask(), await ask(), await ask()]).toEqual([502, 502, 503]);
    await page.goto(`${at.perch.url}/models`);
    await connected(page, 'This browser');
    await page.getByRole('button', { name: 'Find local servers' }).click();
    await page.getByText(/^Paused until .* after 2 failures in a row$/).waitFor();
    const wake = page.getByRole('button', { name: 'Retry now' });
    await wake.click();
    await page.getByText(/^Paused until .* after 3 failures in a row$/).waitFor();
    await page.getByText(/^Could.* connect to /).waitFor();
    await wake.scrollIntoViewIfNeeded();
    await shoot(page, 'resting');
    well = true;
    await wake.click();
    await wake.waitFor({ state: 'detached' });
    await page.getByText('Connected, 1 model').first().waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
