import { describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { createChannelGateway } from '../../../../../tests/support/channel-gateway.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import type { PlatformRequest } from '../../../../../tests/support/platform-server.ts';
import type { ModelScript } from '../../../../../tests/support/test-gateway.ts';
import {
  ADA,
  callWebhook,
  startWhatsAppServer,
  WHATSAPP_PHONE,
  WHATSAPP_SECRET,
  WHATSAPP_TOKEN,
  WHATSAPP_VERIFY_TOKEN,
} from '../../../../../tests/support/whatsapp-server.ts';

const echoScript: ModelScript = ({ body: { messages } }) => [`You said: ${String(messages.at(-1)?.content)}`];
const isSend = ({ method, path, body }: PlatformRequest): boolean =>
  method === 'POST' && path.endsWith('/messages') && !body.includes('"status"');

/** WhatsApp's server, and a gateway that it calls. */
async function createWhatsAppGateway(settings: Record<string, unknown> = {}, model: ModelScript = echoScript) {
  const clock = new FakeClock();
  const server = await startWhatsAppServer(() => clock.now());
  const secrets = { accessToken: WHATSAPP_TOKEN, secret: WHATSAPP_SECRET, verifyToken: WHATSAPP_VERIFY_TOKEN };
  const whatsapp = { enabled: true, apiBase: server.url, phoneNumberId: WHATSAPP_PHONE, ...secrets, allowedUsers: [ADA], ...settings };
  const gw = await createChannelGateway({ whatsapp }, { model, clock });
  const { client } = await gw.client();
  const status = () => gw.status('whatsapp');
  const passes = (condition: () => boolean | Promise<boolean>, label?: string) => gw.advanceUntil(condition, label, 200);
  return {
    ...{ server, gw, client, clock, status, passes },
    said: () => server.sent.map(({ text, interactive }) => text?.body ?? interactive?.body.text),
    /** A call of the webhook; resolves with the status of its response. */
    async call(request: Request): Promise<number> {
      let code = 0;
      void callWebhook(gw, request).then((response) => (code = response.status));
      await passes(() => code !== 0, 'a response');
      return code;
    },
    runs: () => passes(async () => (await status()).status === 'running', 'it runs'),
    settles: () =>
      passes(async () => (await gw.vault.collection('channelStates').get('whatsapp'))?.pending.length === 0, 'no message waits'),
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('whatsapp', () => {
  verifies('channels/whatsapp', 'the webhook is set up by its token; a signed message is stored, then answered as a reply', async () => {
    await using at = await createWhatsAppGateway({ reactions: true }, () => ['**Hi** [Ada](https://example.com)']);
    const check = (token: string) =>
      callWebhook(
        at.gw,
        new Request(
          `http://h/hooks/channels/whatsapp?${new URLSearchParams({ 'hub.mode': 'subscribe', 'hub.verify_token': token, 'hub.challenge': '1158201444' }).toString()}`,
        ),
      );
    expect((await check(WHATSAPP_VERIFY_TOKEN)).status).toBe(503);
    await at.runs();
    const answer = await check(WHATSAPP_VERIFY_TOKEN);
    expect([answer.status, await answer.text()]).toEqual([200, '1158201444']);
    expect((await check('another word')).status).toBe(403);
    expect(await at.call(at.server.createMessage('forged', {}, { secret: 'another-secret' }))).toBe(401);
    expect(await at.call(at.server.createMessage('for another number', {}, { phone: '1' }))).toBe(200);
    expect(await at.call(new Request('http://h/hooks/channels/telegram', { method: 'POST', body: '{}' }))).toBe(503);
    expect(await at.call(at.server.createMessage('Hello?', { id: 'wamid.1' }))).toBe(200);
    expect((await at.gw.vault.collection('channelStates').get('whatsapp'))?.metrics.messages_received).toBe(1);
    await at.passes(() => at.said().length === 1, 'an answer');
    await at.settles();
    expect(at.server.sent[0]).toMatchObject({
      ...{ to: ADA, text: { body: '*Hi* Ada (https://example.com)', preview_url: false } },
      context: { message_id: 'wamid.1' },
    });
    expect(at.server.marks).toContainEqual(expect.objectContaining({ status: 'read', message_id: 'wamid.1' }));
    await at.passes(() => at.server.reactions.length === 2, 'the reaction is removed');
    expect((await at.client.call('sessions.list', {})).sessions).toMatchObject([{ title: 'WhatsApp: Ada' }]);
    expect(at.gw.calls).toHaveLength(1);
  });

  verifies('channels/whatsapp', 'files come and go', async () => {
    await using at = await createWhatsAppGateway({ tools: ['send_file'], owners: [ADA] }, (call, ...rest) =>
      call.body.messages.at(-1)?.content === 'send me yours'
        ? [{ tool: 'send_file', args: { path: 'notes.txt' } }]
        : echoScript(call, ...rest),
    );
    await at.client.call('workspace.write', { path: 'notes.txt', content: 'the notes' });
    await at.runs();
    await at.call(at.server.createMessage('send me yours'));
    await at.passes(() => at.server.sent.some(({ type }) => type === 'document'), 'the file');
    await at.settles();
    expect(at.server.uploads[0]).toContain('the notes');
    at.server.media.set('media1', { bytes: Buffer.from('bread and wine'), mimeType: 'text/plain' });
    const document = { id: 'media1', mime_type: 'text/plain', filename: 'plan.txt', caption: 'see this' };
    await at.call(at.server.createMessage('', { type: 'document', text: undefined, document }));
    await at.passes(() => JSON.stringify(at.gw.calls.at(-1)?.body.messages).includes('[Document plan.txt]\\nbread and wine'), 'a document');
    await at.settles();
    await at.call(at.server.createMessage('', { type: 'document', text: undefined, document: { ...document, id: 'gone' } }));
    await at.passes(() => at.said().some((text) => text?.includes('I couldn’t read plan.txt') === true), 'an answer about the file');
  });

  verifies('channels/whatsapp-once', 'repeats and faults: each message is answered once, if need be not at all', async () => {
    await using at = await createWhatsAppGateway();
    await at.runs();
    let sends = 0;
    const faults = [
      { status: 429, body: '{"error":{"code":130429,"message":"Rate limit hit"}}' },
      { status: 400, body: '{"error":{"code":131056,"message":"Pair rate limit hit"}}' },
    ] as const;
    at.server.fault = (request) => (isSend(request) && sends++ % 2 === 0 ? faults[(sends >> 1) % faults.length] : undefined);
    for (const id of ['one', 'two', 'one', 'three', 'two']) await at.call(at.server.createMessage(id, { id: `wamid.${id}` }));
    await at.passes(() => at.said().length === 3, 'answers');
    await at.settles();
    expect(at.said()).toEqual(['one', 'two', 'three'].map((text) => `You said: ${text}`));
    at.server.fault = (request) => (isSend(request) ? { cut: 'done' } : undefined);
    await at.call(at.server.createMessage('four'));
    await at.settles();
    expect(at.said().filter((text) => text === 'You said: four')).toHaveLength(1);
  });

  verifies('channels/whatsapp-once', 'a post whose response was lost is settled by the receipt that names it', async () => {
    await using at = await createWhatsAppGateway();
    await at.runs();
    const target = { id: 'phone', name: 'Phone', target: { kind: 'channel', channelId: 'whatsapp', to: ADA } };
    await at.client.call('config.patch', { patch: { deliveries: { targets: [target] } } });
    const find = async (id: string) => (await at.client.call('deliveries.list', {})).deliveries.find((each) => each.id === id);
    at.server.fault = (request) => (isSend(request) && at.said().length === 0 ? { cut: 'done' } : undefined);
    const { delivery } = await at.client.call('deliveries.test', { targetId: 'phone' });
    await at.passes(() => at.said().length === 1, 'it is sent');
    const [post] = at.server.sent;
    if (!post) throw new Error('no post');
    expect(await at.call(at.server.createReceipt(post, 'sent'))).toBe(200);
    await at.passes(async () => (await find(delivery.id))?.state === 'accepted', 'it is known to be sent');
    expect(await at.call(at.server.createReceipt(post, 'delivered'))).toBe(200);
    await at.passes(async () => (await find(delivery.id))?.state === 'delivered', 'it is delivered');
    expect(await at.call(at.server.createReceipt(post, 'read'))).toBe(200);
    await at.passes(async () => (await find(delivery.id))?.state === 'read', 'it is read');
    expect(at.said()).toHaveLength(1);
    at.server.options.isWindowClosed = true;
    const { delivery: late } = await at.client.call('deliveries.test', { targetId: 'phone' });
    await at.passes(async () => (await find(late.id))?.state === 'unsent', 'it is refused');
    expect(JSON.stringify(await find(late.id))).toContain('within the last 24 hours');
  });

  verifies('channels/whatsapp-errors', 'a wrong token and missing secrets are told', async () => {
    await using at = await createWhatsAppGateway({ accessToken: 'EAAwrong', verifyToken: null });
    const fails = (text: string) => at.passes(async () => (await at.status()).problem?.includes(text) === true, text);
    await fails('channels.whatsapp.verifyToken is not set.');
    const patch = (whatsapp: object) => at.client.call('config.patch', { patch: { channels: { whatsapp } } });
    await patch({ verifyToken: WHATSAPP_VERIFY_TOKEN });
    await fails('WhatsApp rejected channels.whatsapp.accessToken (190).');
    await patch({ accessToken: WHATSAPP_TOKEN });
    await at.runs();
    expect(JSON.stringify([at.gw.faults, await at.status()])).not.toContain('EAA');
  });
});
