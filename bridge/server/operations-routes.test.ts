import { describe, expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { startTestBridge } from './tests/test-bridge.ts';
import { TestSocketClient } from './tests/test-client.ts';

/** Parses values in Prometheus' text format, by name and labels. */
function parseMetrics(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

describe('operations', () => {
  verifies('http/ready', 'ready while a host serves, and no longer; asked without a credential', async () => {
    await using gateway = await startTestBridge();
    const ready = () => gateway.http('/ready', { token: null });
    const before = await ready();
    expect([before.status, before.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await before.json()).toMatchObject({
      error: { type: 'unavailable', message: expect.stringContaining('No gateway is running') },
    });
    const host = await gateway.attach();
    expect(await (await ready()).json()).toEqual({ status: 'ready', host: 'headless' });
    const left = new Promise((resolve) => gateway.bridge.hosts.once('leave', resolve));
    await host.close();
    await left;
    expect((await ready()).status).toBe(503);
  });

  verifies('http/metrics', 'hosts, clients, requests by status and the process, for who may read', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    for (const token of [null, 'wrong']) {
      const refused = await gateway.http('/metrics', { token });
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(await refused.text()).not.toContain('perch_');
    }
    const read = async (): Promise<Map<string, number>> => parseMetrics(await (await gateway.http('/metrics')).text());
    await (await gateway.http('/v1/models')).text();
    await (await gateway.http('/v1/models', { token: 'wrong' })).text();
    const client = await TestSocketClient.connect(gateway.bridge.url, gateway.token);
    await expect.poll(async () => (await read()).get('perch_http_requests_total{code="401"}')).toBe(1);
    const figures = await read();
    expect(Object.fromEntries([...figures].filter(([name]) => /^perch_(?!info)/.test(name)))).toEqual({
      perch_serving: 1,
      perch_hosts: 1,
      perch_clients: 1,
      perch_clients_unsent_bytes: 0,
      perch_silent_sockets: 0,
      perch_http_requests_under_way: 0,
      perch_journal_head: gateway.journal.head,
      'perch_http_requests_total{code="200"}': 1,
      'perch_http_requests_total{code="401"}': 1,
    });
    expect([...figures.keys()].find((name) => name.startsWith('perch_info{version="'))).toContain('mode="auto"');
    expect(figures.get('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    client.socket.close();
    await expect.poll(async () => (await read()).get('perch_clients')).toBe(0);
  });
});
