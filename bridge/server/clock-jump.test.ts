import { afterEach, expect, vi } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { startTestBridge } from './tests/test-bridge.ts';
import { TestSocketClient } from './tests/test-client.ts';

const DAY_MS = 86_400_000;

afterEach(() => void vi.restoreAllMocks());

for (const days of [1, -1]) {
  verifies('clock/jump', `codes, lock-outs and connections do not go by the wall clock (${days} day)`, async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const client = await TestSocketClient.connect(gateway.url, gateway.token);
    const code = gateway.bridge.issueCode(10_000);
    for (let tries = 0; tries < 10; tries++) expect((await gateway.http('/v1/models', { token: 'wrong' })).status).toBe(401);
    const { now } = Date;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + days * DAY_MS);
    expect((await gateway.http('/v1/models', { token: 'wrong' })).status).toBe(429);
    expect(await client.call('echo', { still: 'here' })).toMatchObject({ payload: { still: 'here' } });
    const linked = await fetch(`${gateway.url}/link`, {
      method: 'POST',
      headers: { origin: gateway.url, 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    expect(linked.status).toBe(200);
    await TestSocketClient.connect(gateway.url, gateway.token);
  });
}
