import { describe, expect, it } from 'vitest';
import { createUpstreamHttp } from '../../../../tests/support/test-http.ts';
import { verifies } from '../../../../tests/requirements.ts';

const v1 = createUpstreamHttp();
const hi = [{ role: 'user', content: 'Hi' }];

describe('a caller that disconnects', () => {
  const posts = (): number => v1.upstream.requests.filter(({ method }) => method === 'POST').length;

  verifies('http/hang-up', 'before, during and instead of reading the answer', async () => {
    for (const stream of [false, true]) {
      const abort = new AbortController();
      const before = posts();
      const response = v1.http.chat({ model: 'up/silent', messages: hi, stream }, { signal: abort.signal });
      const request = await v1.upstream.request(before + 1);
      abort.abort();
      expect((await response).status).toBe(499);
      await request.closed;
      expect(request.hungUp).toBe(true);
    }
    const before = posts();
    const response = await v1.http.chat({ model: 'up/endless', messages: hi, stream: true });
    await response.body?.cancel();
    const request = await v1.upstream.request(before + 1);
    await request.closed;
    expect(request.hungUp).toBe(true);

    const abort = new AbortController();
    const reading = await v1.http.chat({ model: 'up/endless', messages: hi, stream: true }, { signal: abort.signal });
    const second = await v1.upstream.request(before + 2);
    abort.abort();
    await second.closed;
    expect(second.hungUp).toBe(true);
    await reading.text().catch(() => {});
    expect(v1.http.faults).toEqual([]);
  });

  it('aborts the agent’s run', async () => {
    const waits = Promise.withResolvers<AbortSignal>();
    v1.http.agent = async function* ({ signal }) {
      yield { type: 'text', text: 'Hel' };
      waits.resolve(signal);
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const response = await v1.http.chat({ model: 'main', messages: hi, stream: true });
    const reader = response.body?.getReader();
    await reader?.read();
    const signal = await waits.promise;
    await reader?.cancel();
    expect(signal.aborted).toBe(true);
  });
});
