import { describe, expect } from 'vitest';
import { computeWeight } from './post-weight.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { failFirst } from '../../../../../tests/support/platform-server.ts';
import { authorizeAccount, createXGateway, echoScript } from '../../../../../tests/support/x-gateway.ts';
import { APP_BEARER, isMentionsRequest } from '../../../../../tests/support/x-server.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe('mentions', () => {
  verifies(
    ['channels/x-mentions', 'channels/metrics'],
    'new ones are answered in their thread, those of before and its own are not',
    async () => {
      await using at = await createXGateway({}, { model: echoScript, pageSize: 2 });
      at.server.addMention('before it was switched on');
      await at.runs();
      at.server.addMention('a note to itself', '1000');
      const mentionId = at.server.addMention('what &amp; why?');
      await at.passes(() => at.server.own().length === 1, 'an answer');
      expect(at.server.own()).toMatchObject([{ text: 'You said: what & why?', to: mentionId }]);
      // More than a page of them, one after another for each person.
      for (const text of ['one', 'two', 'three', 'four', 'five']) at.server.addMention(text, '2002');
      await at.passes(() => at.server.own().length === 6, 'all of them');
      expect(
        at.server
          .own()
          .slice(1)
          .map(({ text }) => text),
      ).toEqual(['one', 'two', 'three', 'four', 'five'].map((text) => `You said: ${text}`));
      const { sessions } = await at.client.call('sessions.list', {});
      expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual(['x-2001', 'x-2002']);
      const looks = at.server.asked.filter(isMentionsRequest);
      expect(looks[0]?.query.get('since_id')).toBeNull();
      expect(looks.slice(1).every(({ query }) => query.has('since_id'))).toBe(true);
      await at.passes(async () => (await at.status()).metrics?.messages_sent === 6);
      expect((await at.status()).metrics).toMatchObject({ messages_received: 6, messages_failed: 0 });
      expect(at.gw.faults).toEqual([]);
    },
  );

  verifies('channels/reply-weight', 'a long answer is a numbered thread of posts of 280 as X counts them', async () => {
    const long = `See https://example.com/${'a'.repeat(200)} and 日本語の文章 👩‍👩‍👧 — ${'It goes on. '.repeat(60)}end`;
    await using at = await createXGateway({}, { model: () => [long] });
    await at.runs();
    const mentionId = at.server.addMention('tell me');
    await at.passes(async () => (await at.status()).metrics?.messages_sent === 1);
    const posts = at.server.own();
    expect(posts.length).toBeGreaterThan(2);
    expect(posts.every(({ text }) => computeWeight(text) <= 280)).toBe(true);
    expect(posts.map(({ to }) => to)).toEqual([mentionId, ...posts.slice(0, -1).map(({ id }) => id)]);
    expect(posts.map(({ text }) => /\((\d+)\/(\d+)\)$/.exec(text)?.slice(1))).toEqual(
      posts.map((_, index) => [`${index + 1}`, `${posts.length}`]),
    );
    expect(posts.map(({ text }) => text.replace(/ \(\d+\/\d+\)$/, '')).join(' ')).toBe(long.replace(/\s+/g, ' '));
  });

  verifies('channels/allow-list', 'only whom the channel allows', async () => {
    await using at = await createXGateway({ allowedUsers: ['@BOB'] }, { model: echoScript });
    await at.runs();
    at.server.addMention('no', '2001');
    at.server.addMention('yes', '2002');
    await at.passes(() => at.server.own().length === 1);
    await at.passes(async () => (await at.status()).metrics?.messages_sent === 1);
    expect(at.server.own().map(({ text }) => text)).toEqual(['You said: yes']);
  });
});

describe('the budget', () => {
  verifies('channels/budget', 'searches are counted, shown, spread over the month, and end at the limit', async () => {
    await using at = await createXGateway({ searchesPerMonth: 40 }, { model: echoScript });
    await at.runs();
    const { budget } = await at.status();
    expect(budget).toEqual({ used: 1, limit: 40, resets_at: Date.UTC(2026, 11, 1), interval_seconds: expect.any(Number) as number });
    // The remaining ten and a half days for 39 searches.
    expect(budget?.interval_seconds).toBeGreaterThan(6 * 3600);
    const until = (at: number) => (): boolean => at <= clock.now();
    const { clock } = at;
    await at.gw.advanceUntil(until(clock.now() + DAY), 'a day', 10 * MINUTE);
    expect(at.server.looks()).toBeLessThan(7);
    expect(at.server.looks()).toBeGreaterThan(3);
    await at.client.call('config.set', { key: 'channels.x.searchesPerMonth', value: 2 });
    await at.passes(async () => Boolean((await at.status()).problem?.includes('are used')), 'it is used up');
    expect(await at.status()).toMatchObject({ status: 'error', problem: expect.stringContaining('2026-12-01') as string });
    const looks = at.server.looks();
    at.server.addMention('late');
    await at.gw.advanceUntil(until(Date.UTC(2026, 10, 30, 23)), 'the month’s last hour', 60 * MINUTE);
    expect(at.server.looks()).toBe(looks);
    await at.gw.advanceUntil(until(Date.UTC(2026, 11, 1)), 'the next month', 60 * MINUTE);
    // A request may take half a minute.
    await at.gw.advanceUntil(() => at.server.own().length === 1, 'the late answer', 20_000);
    await at.passes(async () => (await at.status()).status === 'running');
  });

  verifies('channels/budget', 'never closer than the interval; as close as it while somebody writes', async () => {
    await using at = await createXGateway({ pollIntervalSeconds: 60 }, { model: echoScript });
    await at.runs();
    at.server.addMention('hello');
    await at.passes(() => at.server.own().length === 1);
    const [from, looks] = [at.clock.now(), at.server.looks()];
    await at.passes(() => at.clock.now() >= from + 8 * MINUTE, 'eight minutes');
    expect(at.server.looks() - looks).toBeGreaterThanOrEqual(6);
    expect(at.server.looks() - looks).toBeLessThanOrEqual(8);
  });
});

describe('X fails', () => {
  verifies(
    ['channels/rate-limit', 'channels/errors'],
    'waits out 429 as long as it says; reports invalid data, cuts and 5xx; loses nothing',
    async () => {
      await using at = await createXGateway({}, { model: echoScript });
      await at.runs();
      const reset = Math.floor(at.clock.now() / 1000) + 1800;
      at.server.fault = failFirst(
        1,
        { status: 429, body: '{"title":"Too Many Requests","detail":"Too Many Requests"}', headers: { 'x-rate-limit-reset': `${reset}` } },
        isMentionsRequest,
      );
      at.server.addMention('first');
      await at.passes(async () => (await at.status()).status === 'error', 'limited');
      expect((await at.status()).problem).toContain(`until ${new Date(reset * 1000).toISOString().slice(11, 19)} UTC`);
      const looks = at.server.looks();
      await at.gw.advanceUntil(() => at.clock.now() >= reset * 1000 - 10_000, 'just before', 9_000);
      expect(at.server.looks()).toBe(looks);
      await at.passes(() => at.server.own().length === 1, 'the first answer');
      for (const [fault, reason] of [
        [{ status: 500, body: 'oops' }, 'X failed (500)'],
        [{ status: 200, body: '[1,2' }, 'an unexpected response'],
        [{ status: 200, body: '{"data":[{"id":"x"}],"meta":{}}' }, 'an unexpected response'],
        [{ cut: 'before' }, 'was lost'],
        [{ endless: true }, 'larger than'],
        [{ status: 401, body: '{"title":"Unauthorized","detail":"Unauthorized"}' }, 'rejected the token'],
      ] as const) {
        const before = at.server.own().length;
        at.server.fault = failFirst(1, fault, isMentionsRequest);
        at.server.addMention(`then ${before}`);
        await at.passes(async () => Boolean((await at.status()).problem?.includes(reason)), reason);
        expect((await at.status()).status).toBe('error');
        expect(JSON.stringify(await at.status())).not.toContain(APP_BEARER);
        await at.passes(() => at.server.own().length === before + 1, `the answer after ${reason}`);
      }
      await at.passes(async () => (await at.status()).status === 'running');
      expect(at.gw.faults).toEqual([]);
    },
  );

  verifies('channels/once', 'an answer whose post broke off is looked for, and never posted twice', async () => {
    await using at = await createXGateway({}, { model: echoScript });
    await at.runs();
    const isPost = ({ method, path }: { method: string; path: string }): boolean => method === 'POST' && path === '/2/tweets';
    for (const [index, fault] of (
      [{ cut: 'done' }, { cut: 'before' }, { status: 502, body: 'Bad Gateway' }, { status: 503, body: '' }] as const
    ).entries()) {
      at.server.fault = failFirst(1, fault, isPost);
      at.server.addMention(`number ${index}`);
      await at.passes(async () => (await at.status()).metrics?.messages_sent === index + 1, `number ${index}`);
      expect(at.server.own().map(({ text }) => text)).toEqual(Array.from({ length: index + 1 }, (_, each) => `You said: number ${each}`));
    }
  });

  verifies('channels/x-mentions', 'a token that only reads is told, and the answer waits for the account’s authorization', async () => {
    await using at = await createXGateway({ clientId: 'client-id' }, { model: echoScript });
    at.server.here.postsByApp = false;
    await at.runs();
    at.server.addMention('post it');
    await at.passes(async () => Boolean((await at.status()).problem?.includes('channels.authorize')), 'a problem');
    expect((await at.status()).waiting).toBe(1);
    await authorizeAccount(at);
    await at.passes(() => at.server.own().length === 1, 'the answer');
    expect(at.gw.calls).toHaveLength(1);
  });

  verifies('channels/x-mentions', 'reports an unknown account, and the monthly cap', async () => {
    await using at = await createXGateway({ socialUsername: 'nobody' });
    await at.passes(async () => (await at.status()).status === 'error');
    expect((await at.status()).problem).toContain('Could not find user');
    const capped = JSON.stringify({ title: 'UsageCapExceeded', detail: 'Usage cap exceeded: Monthly product cap', period: 'Monthly' });
    at.server.fault = () => ({ status: 429, body: capped });
    await at.client.call('channels.start', { channelId: 'x' });
    await at.passes(async () => Boolean((await at.status()).problem?.includes('Usage cap')));
    const requestCount = at.server.asked.length;
    const end = at.clock.now() + 5 * 3_600_000;
    await at.gw.advanceUntil(() => at.clock.now() > end, 'five hours', 20 * MINUTE);
    expect(at.server.asked).toHaveLength(requestCount);
  });
});
