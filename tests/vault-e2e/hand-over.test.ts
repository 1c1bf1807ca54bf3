import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type Perch, startPerch } from '../e2e/perch-process.ts';
import { addProvider, connectOutside } from '../e2e/outside-client.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream, type Upstream, UPSTREAM_TEXT } from '../test-upstream.ts';
import { waitForHosts, waitForActiveHost } from './bridge-health.ts';
import { findFilesContaining } from './vault-copies.ts';
import { ChaosMember } from './member.ts';
import { MAX_INTERRUPTED_MS } from './active-runs.ts';

const GUIDE = 'guide/guide';

describe('with --host auto', () => {
  let upstream: Upstream;
  let perch: Perch;
  let member: ChaosMember;
  beforeAll(async () => {
    upstream = await startUpstream({ models: ['normal', 'slow-300'] });
    perch = await startPerch();
  });
  afterAll(async () => {
    await member?.[Symbol.asyncDispose]();
    await perch?.[Symbol.asyncDispose]();
    await upstream?.close();
  });

  verifies(
    ['vault.hand-over/both-ways', 'vault.hosts/auto'],
    'a session made with no tab open appears in the tab, which serves from then on',
    async () => {
      await waitForActiveHost(perch, 'headless');
      using outside = await connectOutside(perch);
      await addProvider(outside.client, upstream.url);
      await outside.client.call('chat.send', { sessionId: 'before', message: 'Made with no tab open', model: GUIDE });
      member = await ChaosMember.link('tab', perch);
      await member.page.getByText('Made with no tab open').first().waitFor();
      await waitForActiveHost(perch, 'tab');
      const { messages } = await member.call('chat.history', { sessionId: 'before' });
      expect(messages.map(({ role, content }) => (role === 'user' ? content : role))).toEqual(['Made with no tab open', 'assistant']);
    },
  );

  verifies(
    ['vault.hand-over/both-ways', 'vault.hosts/auto'],
    'one made in the tab is there for programs at once when the tab is closed',
    async () => {
      await member.call('chat.send', { sessionId: 'in-the-tab', message: 'Made in the tab', model: GUIDE });
      await waitForHosts(perch, 2);
      await member.closeTab();
      const since = performance.now();
      const response = await perch.fetch('/v1/models');
      expect(response.status).toBe(200);
      using outside = await connectOutside(perch);
      const { messages } = await outside.client.call('chat.history', { sessionId: 'in-the-tab' });
      expect(performance.now() - since).toBeLessThan(1_000);
      expect(messages.map(({ role, content }) => (role === 'user' ? content : role))).toEqual(['Made in the tab', 'assistant']);
      await waitForActiveHost(perch, 'headless');
    },
  );

  verifies(
    ['vault.hand-over/runs-go-on', 'vault.hosts/flip', 'vault.runs/passed-on'],
    'a run goes on at the managed Chromium while the tab takes over',
    async () => {
      await waitForActiveHost(perch, 'headless');
      using caller = await connectOutside(perch, 'all');
      const pendingSend = caller.client.call('chat.send', { sessionId: 'long', message: 'Take your time', model: 'local/slow-300' });
      await waitFor(() => caller.events.some(({ event }) => event === 'chat.delta'), 'the run to be under way');
      await member.openTab(`${perch.url}/chat/main/long`);
      await waitForActiveHost(perch, 'tab');
      using other = await connectOutside(perch);
      expect((await other.client.call('chat.send', { sessionId: 'meanwhile', message: 'A new one', model: GUIDE })).completed).toBe(true);
      const { messages } = await member.call('chat.history', { sessionId: 'long' });
      expect(messages.map(({ role }) => role)).toEqual(['user']);
      const done = await pendingSend;
      expect(done.completed).toBe(true);
      expect(caller.events.filter(({ event }) => event === 'chat.done')).toHaveLength(1);
      await member.page.getByRole('article', { name: 'Reply' }).getByText(UPSTREAM_TEXT.join('')).waitFor();
    },
  );

  verifies(
    'vault.hand-over/keys',
    'a key given in the tab opens the provider for the managed Chromium, and is nowhere in the clear',
    async () => {
      const apiKey = 'sk-only-in-the-vault-4711';
      await using locked = await startUpstream({ apiKey, models: ['normal'] });
      await member.call('config.patch', { patch: { providers: { locked: { baseUrl: locked.url, apiKey } } } });
      await member.waitForSync();
      await member.closeTab();
      await waitForActiveHost(perch, 'headless');
      using outside = await connectOutside(perch);
      const done = await outside.client.call('chat.send', { sessionId: 'locked', message: 'Open', model: 'locked/normal' });
      expect(done.completed).toBe(true);
      expect((await locked.request()).headers.authorization).toBe(`Bearer ${apiKey}`);
      const { value } = await outside.client.call('config.get', { key: 'providers.locked.apiKey' });
      expect(value).toBe('***');
      expect(findFilesContaining(perch.home, apiKey)).toEqual([]);
      // The search does find unencrypted text.
      expect(findFilesContaining(perch.home, locked.url).filter((file) => file.startsWith('journal.sqlite'))).not.toEqual([]);
    },
  );
});

for (const ends of ['is closed', 'is killed'] as const)
  verifies('vault.runs/text', `a browser that ${ends} while a reply streams leaves one version, interrupted, and no conflict`, async () => {
    await using upstream = await startUpstream({ models: ['endless'] });
    await using perch = await startPerch();
    await using member = await ChaosMember.link('tab', perch);
    await waitForActiveHost(perch, 'tab');
    await waitForHosts(perch, 2);
    const caller = await connectOutside(perch, 'all');
    await addProvider(caller.client, upstream.url);
    caller.client.call('chat.send', { sessionId: 'long', message: 'Take your time', model: 'local/endless' }).catch(() => {});
    const written = (): number =>
      caller.events.reduce((sum, { event, payload }) => sum + (event === 'chat.delta' ? String(payload.delta).length : 0), 0);
    await waitFor(() => written() > 10_000, 'a good deal of text', 20_000);
    if (ends === 'is closed') await member.browser.context.close();
    else await member.kill();
    await waitForActiveHost(perch, 'headless');
    using outside = await connectOutside(perch);
    const read = () => outside.client.call('chat.history', { sessionId: 'long' });
    await waitFor(async () => (await read()).messages.at(-1)?.interrupted === true, 'the reply to be ended', MAX_INTERRUPTED_MS);
    expect(String((await read()).messages.at(-1)?.content).length).toBeGreaterThan(1_000);
    await member.reopen();
    await member.waitForSync();
    await waitForActiveHost(perch, 'tab');
    for (const { messages, versions } of [await read(), await member.call('chat.history', { sessionId: 'long' })]) {
      expect(messages.map(({ role, interrupted }) => [role, interrupted])).toEqual([
        ['user', undefined],
        ['assistant', true],
      ]);
      expect(versions).toEqual({});
    }
    expect((await outside.client.call('sync.conflicts', {})).conflicts).toEqual([]);
    await member.openTab(`${perch.url}/chat/main/long`);
    await member.page.getByText('Interrupted: connection lost').waitFor();
    await member.page.getByRole('button', { name: 'Continue' }).click();
    await member.page.getByText('Continue where you stopped.').waitFor();
  });

verifies('vault.hand-over/headless', 'with --host headless the tab stands by, and answers when the bridge is stopped', async () => {
  await using perch = await startPerch({ host: 'headless' });
  await using member = await ChaosMember.link('tab', perch);
  const { transport } = await member.waitForSync();
  expect(transport).toBe('bridge');
  await member.call('chat.send', { sessionId: 'there', message: 'Kept on both', model: GUIDE });
  await waitForActiveHost(perch, 'headless');
  expect((await member.waitForSync()).host?.sync.role).toBe('replica');
  await member.isIntact();
  await perch.kill('SIGKILL');
  await waitFor(async () => (await member.getConnectionState())?.transport === 'browser', 'the page to go to its own worker');
  const { messages } = await member.call('chat.history', { sessionId: 'there' });
  expect(messages.map(({ role, content }) => (role === 'user' ? content : role))).toEqual(['Kept on both', 'assistant']);
  await member.call('chat.send', { sessionId: 'there', message: 'Without the bridge', model: GUIDE });
  await perch.restart();
  await waitForHosts(perch, 2);
  await waitFor(async () => (await member.getConnectionState())?.transport === 'bridge', 'the page to go back to the bridge');
  using outside = await connectOutside(perch);
  expect((await outside.client.call('chat.history', { sessionId: 'there' })).messages).toHaveLength(4);
});
