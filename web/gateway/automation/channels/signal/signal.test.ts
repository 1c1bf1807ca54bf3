import { describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { createChannelGateway } from '../../../../../tests/support/channel-gateway.ts';
import { createFetch } from '../../../ports/create-fetch.ts';
import { SignalAdapter } from './signal-adapter.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import type { PlatformRequest } from '../../../../../tests/support/platform-server.ts';
import { ADA, SIGNAL_ACCOUNT, startSignalServer } from '../../../../../tests/support/signal-server.ts';
import type { ModelScript } from '../../../../../tests/support/test-gateway.ts';

const echoScript: ModelScript = ({ body: { messages } }) => [`You said: ${String(messages.at(-1)?.content)}`];
const isSend = ({ body }: PlatformRequest): boolean => body.includes('"method":"send"');

/** The daemon of signal-cli, and a gateway that is connected to it. */
async function createSignalGateway(settings: Record<string, unknown> = {}, model: ModelScript = echoScript) {
  const clock = new FakeClock();
  const server = await startSignalServer(() => clock.now());
  const signal = { enabled: true, apiBase: server.url, account: SIGNAL_ACCOUNT, allowedUsers: [ADA.sourceNumber], ...settings };
  const gw = await createChannelGateway({ signal }, { model, clock });
  const { client } = await gw.client();
  const status = () => gw.status('signal');
  const passes = (condition: () => boolean | Promise<boolean>, label?: string) => gw.advanceUntil(condition, label, 200);
  const pending = async () => (await gw.vault.collection('channelStates').get('signal'))?.pending ?? [];
  return {
    ...{ server, gw, client, clock, status, passes, pending },
    said: () => server.sent.map(({ message }) => message),
    runs: () => passes(async () => (await status()).status === 'running', 'it runs'),
    settles: () => passes(async () => (await pending()).length === 0, 'no message waits'),
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('signal', () => {
  verifies('channels/signal', 'private messages are answered, in groups mentions; strangers get a code', async () => {
    await using at = await createSignalGateway({ reactions: true, allowedUsers: null, pairedUsers: [{ id: ADA.sourceUuid, name: 'Ada' }] });
    await at.runs();
    const asked = at.server.write('Hello?');
    await at.passes(() => at.said().length === 1, 'an answer');
    await at.settles();
    expect(at.server.sent[0]).toMatchObject({ account: SIGNAL_ACCOUNT, recipient: [ADA.sourceUuid], message: 'You said: Hello?' });
    await at.passes(() => at.server.reactions.length === 2, 'the reaction is removed');
    expect(at.server.reactions).toEqual([`add 👀 ${asked}`, `remove 👀 ${asked}`]);
    expect(at.server.typing).toContainEqual(expect.objectContaining({ recipient: [ADA.sourceUuid] }));
    const groupInfo = { groupId: 'a+b/c=', groupName: 'Kitchen' };
    at.server.write('nobody is asked', { groupInfo });
    const mention = { start: 0, length: 1, number: SIGNAL_ACCOUNT, name: 'Perch' };
    const addressed = at.server.write('￼ what is for dinner?', { groupInfo, mentions: [mention] });
    await at.passes(() => at.said().length === 2, 'an answer in the group');
    expect(at.server.sent[1]).toMatchObject({
      ...{ groupId: 'a+b/c=', message: 'You said: Ada: what is for dinner?' },
      ...{ quoteTimestamp: addressed, quoteAuthor: ADA.sourceUuid },
    });
    at.server.write('let me in', { from: { sourceUuid: '22222222-bbbb-4bbb-8bbb-222222222222', sourceName: ADA.sourceNumber } });
    await at.passes(() => at.said().length === 3, 'a code');
    expect(at.said()[2]).toMatch(/give this code to my owner/);
    await at.settles();
    expect((await at.client.call('sessions.list', {})).sessions.map(({ title }) => title).sort()).toEqual([
      'Signal: Ada',
      'Signal: Kitchen',
    ]);
    expect(at.gw.calls).toHaveLength(2);
    expect(at.gw.faults).toEqual([]);
  });

  verifies(['channels/signal', 'channels/edits', 'channels/deleted'], 'on Signal too: edits, deletions and files', async () => {
    const gate = Promise.withResolvers<void>();
    await using at = await createSignalGateway({ tools: ['send_file'], owners: [ADA.sourceUuid] }, (call, ...rest) => {
      const text = String(call.body.messages.at(-1)?.content);
      if (text.includes('slow')) return [{ wait: gate.promise }, 'slow one'];
      return text === 'send me yours' ? [{ tool: 'send_file', args: { path: 'notes.txt' } }] : echoScript(call, ...rest);
    });
    await at.client.call('workspace.write', { path: 'notes.txt', content: 'the notes' });
    await at.runs();
    at.server.write('slow');
    await at.passes(() => at.gw.calls.length === 1, 'the first one is asked');
    const [taken, mended] = [at.server.write('taken back'), at.server.write('tpyo')];
    at.server.write('', { remoteDelete: { timestamp: taken } });
    at.server.edit(mended, 'typo');
    await at.passes(async () => (await at.pending()).length === 2 && JSON.stringify(await at.pending()).includes('typo'), 'both are known');
    gate.resolve();
    await at.passes(() => at.said().length === 2, 'two answers');
    await at.settles();
    expect(at.said()).toEqual(['slow one', 'You said: typo']);
    at.server.write('send me yours');
    await at.passes(() => at.server.sent.some(({ attachments }) => attachments), 'the file');
    await at.settles();
    expect(at.server.sent.at(-1)?.attachments).toEqual([`data:text/plain;filename=notes.txt;base64,${btoa('the notes')}`]);
    at.server.attachments.set('plan', btoa('bread and wine'));
    const share = (id: string) => at.server.write('', { attachments: [{ id, contentType: 'text/plain', filename: 'plan.txt' }] });
    share('plan');
    await at.passes(() => JSON.stringify(at.gw.calls.at(-1)?.body.messages).includes('[Document plan.txt]\\nbread and wine'), 'a document');
    await at.settles();
    share('gone');
    await at.passes(() => at.said().some((text) => text?.includes('I couldn’t read plan.txt') === true), 'an answer about the file');
  });

  verifies('channels/signal-once', 'cuts, limits and lost responses: no message is answered twice', async () => {
    await using at = await createSignalGateway();
    await at.runs();
    at.server.options.error = { code: -5, message: 'Rate limit' };
    at.server.write('one');
    await at.passes(async () => (await at.status()).problem?.includes('limiting messages') === true, 'a limit');
    at.server.options.error = undefined;
    await at.passes(() => at.said().length === 1, 'an answer');
    await at.settles();
    at.server.cut();
    await at.passes(() => at.server.streamCount() === 0, 'the stream is cut');
    at.server.write('two');
    await at.passes(() => at.said().length === 2, 'an answer to what came meanwhile');
    await at.settles();
    let isFirst = true;
    at.server.fault = (request) => (isSend(request) && isFirst ? ((isFirst = false), { cut: 'done' }) : undefined);
    at.server.write('three');
    await at.passes(() => at.said().length === 3, 'an answer');
    await at.settles();
    expect(at.said()).toEqual(['one', 'two', 'three'].map((text) => `You said: ${text}`));
  });

  verifies('channels/signal-once', 'what a host has received and not stored comes again', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    for (const [numbersEvents, expected] of [
      [true, ['two', 'three']],
      [false, ['three']],
    ] as [boolean, string[]][]) {
      await using server = await startSignalServer(() => clock.now(), { numbersEvents });
      const out = createFetch({ getAllowedOrigins: () => new Set([server.url]), getEgress: () => null });
      const create = () => new SignalAdapter({ fetch: out, clock, account: SIGNAL_ACCOUNT, apiBase: server.url });
      const poll = async (adapter: SignalAdapter, cursors: Record<string, string>) => {
        const result = await adapter.poll({ cursors, budget: undefined, spend: async () => {}, signal });
        return { texts: result.messages.map(({ text }) => text), cursors: { ...cursors, ...result.cursors } };
      };
      const first = create();
      await poll(first, {});
      server.write('one');
      const { cursors } = await poll(first, {});
      server.write('two');
      expect((await poll(first, cursors)).texts).toEqual(['two']);
      // The host dies here.
      first.close();
      await expect.poll(() => server.streamCount()).toBe(0);
      const second = create();
      await poll(second, cursors);
      server.write('three');
      const texts: string[] = [];
      while (!texts.includes('three')) texts.push(...(await poll(second, cursors)).texts);
      second.close();
      expect(texts).toEqual(expected);
    }
  });

  verifies('channels/signal', 'receipts prove a message that comes first; an unknown recipient is refused', async () => {
    await using at = await createSignalGateway();
    await at.runs();
    const target = { id: 'ada', name: 'Ada', target: { kind: 'channel', channelId: 'signal', to: ADA.sourceNumber } };
    await at.client.call('config.patch', { patch: { deliveries: { targets: [target] } } });
    const find = async (id: string) => (await at.client.call('deliveries.list', {})).deliveries.find((each) => each.id === id);
    const { delivery } = await at.client.call('deliveries.test', { targetId: 'ada' });
    await at.passes(async () => (await find(delivery.id))?.state === 'accepted', 'it is accepted');
    const [{ timestamp } = { timestamp: 0 }] = at.server.sent;
    at.server.receive([timestamp], 'isDelivery');
    await at.passes(async () => (await find(delivery.id))?.state === 'delivered', 'it is delivered');
    at.server.receive([timestamp], 'isRead');
    await at.passes(async () => (await find(delivery.id))?.state === 'read', 'it is read');
    at.server.options.result = 'UNREGISTERED_FAILURE';
    const { delivery: unknown } = await at.client.call('deliveries.test', { targetId: 'ada' });
    await at.passes(async () => (await find(unknown.id))?.state === 'unsent', 'it is refused');
  });

  verifies('channels/signal-errors', 'a wrong number and a missing daemon are told', async () => {
    await using at = await createSignalGateway({ account: '0170' });
    const fails = (text: string) => at.passes(async () => (await at.status()).problem?.includes(text) === true, text);
    const patch = (signal: object) => at.client.call('config.patch', { patch: { channels: { signal } } });
    await fails('channels.signal.account is not a phone number');
    await patch({ account: SIGNAL_ACCOUNT, apiBase: 'http://127.0.0.1:9' });
    await fails('Is its daemon running?');
    await patch({ apiBase: `${at.server.url}/elsewhere` });
    await fails('Check channels.signal.apiBase.');
    await patch({ apiBase: at.server.url });
    await at.runs();
  });
});
