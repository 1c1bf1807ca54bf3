import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import { createTestGateway, waitFor } from '../../../tests/support/test-gateway.ts';
import {
  type ProviderRequest,
  createFakeServer,
  createStreamResponse,
  toUnnamedEvents,
} from '../../../tests/support/fake-provider-server.ts';

const REPLY_STREAM = toUnnamedEvents({ choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] }, '[DONE]').replace(
  '"[DONE]"',
  '[DONE]',
);

async function createFixture(answer: (asked: ProviderRequest, count: number) => Response | Promise<Response>, clock = new FakeClock()) {
  let posts = 0;
  const { fetch } = createFakeServer((asked) => (asked.method === 'GET' ? Response.json({ data: [{ id: 'm' }] }) : answer(asked, ++posts)));
  const gw = await createTestGateway({ fetch, clock, useGuide: true });
  const { client } = await gw.client();
  await client.call('config.patch', {
    patch: {
      providers: { up: { baseUrl: 'http://up.test/v1' }, other: { baseUrl: 'http://other.test/v1' } },
      chat: { model: 'up/m' },
    },
  });
  const v1 = (body: object): Promise<Response> =>
    gw.gateway.fetch(
      new Request('http://127.0.0.1:7333/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: 'Hi' }], ...body }),
      }),
      { id: 'owner', scopes: ['admin'] },
    );
  return { gw, client, clock, v1, posts: () => posts };
}

const summariseResponse = async (response: Response): Promise<unknown[]> => [
  response.status,
  response.headers.get('retry-after'),
  await response.json(),
];

verifies(
  ['providers/breaker', 'http/errors'],
  'is 503 with Retry-After over `/v1`, for models and agents; a fallback answers meanwhile',
  async () => {
    let well = false;
    const { gw, client, clock, v1, posts } = await createFixture(({ url }) =>
      well || url.includes('other') ? createStreamResponse(REPLY_STREAM) : Response.json({ error: { message: 'broken' } }, { status: 501 }),
    );
    await using _ = gw;
    for (const stream of [false, true, false, true, false]) expect((await v1({ stream })).status).toBe(502);
    const refused = [503, '30', { error: { type: 'unavailable', message: expect.stringContaining('Try again in 30 s') } }];
    for (const body of [{}, { stream: true }, { model: 'perch/main' }])
      expect(await summariseResponse(await v1(body))).toMatchObject(refused);
    expect(posts()).toBe(5);
    expect((await v1({ model: 'other/m' })).status).toBe(200);
    await client.call('config.patch', { patch: { chat: { fallbacks: ['other/m'] } } });
    expect(await (await v1({ model: 'perch/main' })).json()).toMatchObject({ choices: [{ message: { content: 'Hello' } }] });
    clock.advance(30_000);
    well = true;
    expect((await v1({ stream: true })).status).toBe(200);
    expect((await v1({})).status).toBe(200);
  },
);

verifies('providers/breaker', 'by the settings, and never by what the caller did wrong', async () => {
  const { gw, client, clock, v1, posts } = await createFixture(
    (_asked, count) => new Response('{"error":"x"}', { status: count > 20 ? 501 : 400 }),
  );
  await using _ = gw;
  await client.call('config.set', { key: 'gateway.upstream', value: { failures: 2, pauseMs: 5000 } });
  for (let count = 0; count < 20; count++) expect((await v1({})).status).toBe(400);
  expect([(await v1({})).status, (await v1({})).status]).toEqual([502, 502]);
  expect(await summariseResponse(await v1({}))).toMatchObject([503, '5', {}]);
  clock.advance(5000);
  expect((await v1({})).status).toBe(502);
  expect([(await v1({})).status, posts()]).toEqual([503, 23]);
  await expect(client.call('config.set', { key: 'gateway.upstream', value: { failures: -1 } })).rejects.toMatchObject({
    code: 'INVALID_PARAMS',
  });
});

verifies(
  ['models.providers/resting', 'models.probe/resting'],
  'is told of with its end, and a probe tries it before that, in vain or not',
  async () => {
    let well = false;
    const { gw, client, clock, v1, posts } = await createFixture(() =>
      well ? createStreamResponse(REPLY_STREAM) : new Response('{}', { status: 501 }),
    );
    await using _ = gw;
    const resting = async () => (await client.call('models.providers', {})).providers.find(({ id }) => id === 'up')?.resting;
    for (let count = 0; count < 4; count++) await v1({});
    expect(await resting()).toBeUndefined();
    await v1({});
    expect(await resting()).toEqual({ failures: 5, until: clock.now() + 30_000 });
    clock.advance(10_000);
    expect(await resting()).toEqual({ failures: 5, until: clock.now() + 20_000 });
    expect((await client.call('models.probe', { model: 'up/m' })).available).toBe(false);
    expect(await resting()).toEqual({ failures: 6, until: clock.now() + 30_000 });
    expect([(await v1({})).status, posts()]).toEqual([503, 6]);
    well = true;
    expect((await client.call('models.probe', { model: 'up/m' })).available).toBe(true);
    expect(await resting()).toBeUndefined();
    expect((await v1({})).status).toBe(200);
  },
);

verifies('providers/time-outs', 'until the first byte and within an answer, a whole answer having longer', async () => {
  const silent = (): Promise<Response> => new Promise(() => {});
  const { gw, client, clock, v1 } = await createFixture((_asked, count) =>
    count === 3 ? createStreamResponse(REPLY_STREAM.slice(0, 20), { ends: 'stall' }) : silent(),
  );
  await using _ = gw;
  const ends = async (body: object, ms: number): Promise<unknown> => {
    const answer = v1(body).then((response) => response.text());
    await clock.waitForTimer(ms);
    clock.advance(ms);
    return answer;
  };
  expect(await ends({}, 600_000)).toContain('sent nothing for 600 s');
  expect(await ends({ stream: true }, 60_000)).toContain('sent nothing for 60 s');
  expect(await ends({ stream: true }, 60_000)).toContain('sent nothing for 60 s');
  await client.call('config.set', { key: 'gateway.upstream', value: { firstByteMs: 90_000, idleMs: 5000, wholeMs: 7000, failures: 0 } });
  expect(await ends({ stream: true }, 90_000)).toContain('sent nothing for 90 s');
  expect(await ends({}, 7000)).toContain('sent nothing for 7 s');
  expect(await ends({ model: 'perch/main', stream: true }, 90_000)).toContain('for 90 s');
});

verifies('providers/breaker', 'counts a failure once, however many choices it ends', async () => {
  let later = false;
  const left: unknown[] = [];
  const { gw, client, v1 } = await createFixture(({ signal }, count) => {
    if (later) return new Response('{}', { status: 400 });
    if (count === 8) return new Response('{}', { status: 501 });
    const { promise, reject } = Promise.withResolvers<Response>();
    signal.addEventListener('abort', () => (left.push(signal.reason), reject(signal.reason)));
    return promise;
  });
  await using _ = gw;
  await client.call('config.set', { key: 'providers.claude', value: { kind: 'anthropic', apiKey: 'k', baseUrl: 'http://claude.test/v1' } });
  const ask = { model: 'claude/claude-opus-5-5', n: 8 };
  expect((await v1(ask)).status).toBe(502);
  await waitFor(() => left.length === 7, 'the other choices to end');
  later = true;
  expect((await v1(ask)).status).toBe(400);
});
