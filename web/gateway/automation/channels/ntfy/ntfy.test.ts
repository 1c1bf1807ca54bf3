import { describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { createChannelGateway } from '../../../../../tests/support/channel-gateway.ts';
import { FakeBridge } from '../../../../../tests/support/fake-bridge.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import { NTFY_TOKEN, startNtfyServer } from '../../../../../tests/support/ntfy-server.ts';
import type { PlatformRequest } from '../../../../../tests/support/platform-server.ts';
import type { ModelScript } from '../../../../../tests/support/test-gateway.ts';

const echoScript: ModelScript = ({ body: { messages } }) => [`You said: ${String(messages.at(-1)?.content)}`];
const isPublish = ({ method, path }: PlatformRequest): boolean => method === 'POST' && path === '/';

/** A ntfy server, and a gateway without a bridge that reads `to-perch` and writes to `from-perch`. */
async function createNtfyGateway(settings: Record<string, unknown> = {}, model: ModelScript = echoScript) {
  const clock = new FakeClock();
  const server = await startNtfyServer(() => clock.now());
  const topics = { topic: 'from-perch', inboxTopic: 'to-perch', accessToken: NTFY_TOKEN };
  const ntfy = { enabled: true, apiBase: server.url, ...topics, allowedUsers: ['to-perch'], ...settings };
  const gw = await createChannelGateway({ ntfy }, { model, clock, bridge: new FakeBridge() });
  const { client } = await gw.client();
  const status = () => gw.status('ntfy');
  const passes = (condition: () => boolean | Promise<boolean>, label?: string) => gw.advanceUntil(condition, label, 200);
  return {
    ...{ server, gw, client, clock, status, passes },
    said: () => server.in('from-perch').map(({ message }) => message),
    runs: () => passes(async () => (await status()).status === 'running', 'it runs'),
    settles: () => passes(async () => (await gw.vault.collection('channelStates').get('ntfy'))?.pending.length === 0, 'no message waits'),
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}

describe('ntfy', () => {
  verifies('channels/ntfy', 'without a bridge, messages of a topic are answered in another one; files come and go', async () => {
    await using at = await createNtfyGateway({ tools: ['send_file'], owners: ['to-perch'] }, (call, ...rest) =>
      call.body.messages.at(-1)?.content === 'send me yours'
        ? [{ tool: 'send_file', args: { path: 'notes.txt' } }]
        : echoScript(call, ...rest),
    );
    at.server.write('to-perch', 'from before');
    at.clock.advance(5_000);
    await at.runs();
    at.server.write('to-perch', 'Hello?');
    await at.passes(() => at.said().length === 1, 'an answer');
    await at.settles();
    expect(at.said()).toEqual(['You said: Hello?']);
    await at.client.call('workspace.write', { path: 'notes.txt', content: 'the notes' });
    at.server.write('to-perch', 'send me yours');
    await at.passes(() => at.server.files.size === 1, 'the file');
    await at.settles();
    expect(at.server.in('from-perch').at(-1)?.attachment).toMatchObject({ name: 'notes.txt', size: 9 });
    at.server.share('to-perch', 'plan.txt', 'bread and wine');
    await at.passes(() => JSON.stringify(at.gw.calls.at(-1)?.body.messages).includes('[Document plan.txt]\\nbread and wine'), 'a document');
    await at.settles();
    expect((await at.client.call('sessions.list', {})).sessions).toMatchObject([{ title: 'ntfy: to-perch' }]);
    expect(at.gw.faults).toEqual([]);
  });

  verifies('channels/ntfy-once', 'lost responses, limits and cuts: each message is answered once', async () => {
    await using at = await createNtfyGateway({ limits: { perMinute: 1000 } });
    await at.runs();
    await at.passes(() => at.server.subscriberCount() === 1, 'it is subscribed');
    let sends = 0;
    const faults = [
      { cut: 'done' },
      { status: 429, body: '{"code":42901,"http":429,"error":"limit reached"}' },
      { status: 502, body: 'Bad gateway' },
      { cut: 'before' },
    ] as const;
    at.server.fault = (request) => (isPublish(request) && sends++ % 2 === 0 ? faults[(sends >> 1) % faults.length] : undefined);
    const texts = Array.from({ length: 6 }, (_, index) => `message ${index}`);
    for (const [index, text] of texts.entries()) {
      if (index === 3) at.server.cut();
      at.server.write('to-perch', text);
    }
    await at.passes(() => at.said().length === texts.length, 'all are answered');
    await at.settles();
    expect(at.said()).toEqual(texts.map((text) => `You said: ${text}`));
    expect(at.gw.calls).toHaveLength(texts.length);
    at.server.options.isOld = true;
    at.server.fault = (request) => (isPublish(request) && sends++ % 2 === 0 ? { cut: 'done' } : undefined);
    sends = 0;
    at.server.write('to-perch', 'on an old server');
    await at.passes(() => at.said().length > texts.length, 'an answer');
    await at.settles();
    expect(at.said().at(-1)).toBe('You said: on an old server');
    expect(at.said()).toHaveLength(texts.length + 1);
  });

  verifies('channels/ntfy-once', 'a message that comes first is delivered once the server has it, also without an inbox', async () => {
    await using at = await createNtfyGateway({ inboxTopic: null, accessToken: null });
    at.server.options.isProtected = false;
    await at.runs();
    await at.client.call('config.patch', {
      patch: {
        deliveries: { targets: [{ id: 'phone', name: 'Phone', target: { kind: 'channel', channelId: 'ntfy', to: 'from-perch' } }] },
      },
    });
    at.server.fault = (request) => (isPublish(request) && at.said().length === 0 ? { cut: 'done' } : undefined);
    const { delivery } = await at.client.call('deliveries.test', { targetId: 'phone' });
    const find = async () => (await at.client.call('deliveries.list', {})).deliveries.find(({ id }) => id === delivery.id);
    await at.passes(async () => (await find())?.state === 'delivered', 'it is delivered');
    expect(at.said()).toHaveLength(1);
  });

  verifies('channels/ntfy-errors', 'a wrong token, a missing topic and the same one twice are told', async () => {
    await using at = await createNtfyGateway({ accessToken: 'tk_wrong' });
    const fails = (text: string) => at.passes(async () => (await at.status()).problem?.includes(text) === true, text);
    const patch = (ntfy: object) => at.client.call('config.patch', { patch: { channels: { ntfy } } });
    await fails('ntfy does not allow access to the topic (403). Check channels.ntfy.accessToken.');
    await patch({ topic: null });
    await fails('channels.ntfy.topic is not set.');
    await patch({ topic: 'to-perch', accessToken: NTFY_TOKEN });
    await fails('must differ from channels.ntfy.topic');
    await expect(patch({ topic: 'no topic/' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await patch({ topic: 'from-perch' });
    await at.runs();
    expect(JSON.stringify([at.gw.faults, await at.status()])).not.toContain(NTFY_TOKEN);
  });
});
