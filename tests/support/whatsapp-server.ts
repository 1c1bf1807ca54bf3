import { createHmac } from 'node:crypto';
import type { TestGateway } from './test-gateway.ts';
import { type PlatformRequest, startPlatformServer } from './platform-server.ts';

export const WHATSAPP_TOKEN = 'EAAtoken1234567890';
export const WHATSAPP_SECRET = 'app-secret-0123456789';
export const WHATSAPP_VERIFY_TOKEN = 'a word of my own';
export const WHATSAPP_PHONE = '106540352242922';
export const ADA = '491701111111';

interface Sent {
  id: string;
  to: string;
  type: string;
  text?: { body: string };
  interactive?: { body: { text: string }; action: { buttons: { reply: { id: string; title: string } }[] } };
  biz_opaque_callback_data?: string;
  [name: string]: unknown;
}

/** A local server that responds like WhatsApp's Cloud API (https://developers.facebook.com/docs/whatsapp/cloud-api), and calls a webhook. */
export async function startWhatsAppServer(now: () => number) {
  const sent: Sent[] = [];
  const marks: Record<string, unknown>[] = [];
  const reactions: string[] = [];
  const media = new Map<string, { bytes: Buffer; mimeType: string }>();
  const uploads: string[] = [];
  /** `isWindowClosed`: the recipient has not written for a day. */
  const options = { isWindowClosed: false };
  let lastId = 0;
  const refuse = (status: number, code: number, message: string) => ({
    status,
    json: { error: { message, type: 'OAuthException', code } },
  });
  const server = await startPlatformServer(({ method, path, headers, body }: PlatformRequest) => {
    if (headers.authorization !== `Bearer ${WHATSAPP_TOKEN}`) return refuse(401, 190, 'Invalid OAuth access token');
    const [, , first = '', second = ''] = path.split('/');
    if (path.startsWith('/files/')) {
      const file = media.get(first);
      return file ? { bytes: file.bytes, headers: { 'content-type': file.mimeType } } : { status: 404, json: {} };
    }
    if (method === 'GET') {
      if (first === WHATSAPP_PHONE) return { json: { id: WHATSAPP_PHONE } };
      const file = media.get(first);
      return file
        ? { json: { url: `${server.url}/files/${first}`, mime_type: file.mimeType } }
        : refuse(400, 100, 'Unsupported get request');
    }
    if (first !== WHATSAPP_PHONE) return refuse(400, 100, 'Unsupported post request');
    if (second === 'media') {
      uploads.push(body.toString('latin1'));
      return { json: { id: `upload${uploads.length}` } };
    }
    const message = JSON.parse(body.toString()) as Sent & { reaction?: { message_id: string; emoji: string } };
    if ('status' in message) {
      marks.push(message);
      return { json: { success: true } };
    }
    if (message.reaction) {
      reactions.push(`${message.reaction.emoji} ${message.reaction.message_id}`);
      return { json: { messages: [{ id: `wamid.r${++lastId}` }] } };
    }
    if (options.isWindowClosed) return refuse(400, 131047, 'Re-engagement message');
    if ((message.text?.body.length ?? 0) > 4096 || (message.interactive?.body.text.length ?? 0) > 1024)
      return refuse(400, 100, 'Param text too long');
    const stored: Sent = { ...message, id: `wamid.out${++lastId}` };
    sent.push(stored);
    return { json: { messaging_product: 'whatsapp', contacts: [{ wa_id: message.to }], messages: [{ id: stored.id }] } };
  });
  /** Calls of the webhook, as WhatsApp makes them. */
  const createCall = (value: object, { secret = WHATSAPP_SECRET, phone = WHATSAPP_PHONE } = {}): Request => {
    const metadata = { display_phone_number: '15550001111', phone_number_id: phone };
    const change = { field: 'messages', value: { messaging_product: 'whatsapp', metadata, ...value } };
    const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: '1', changes: [change] }] });
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature };
    return new Request('http://127.0.0.1/hooks/channels/whatsapp', { method: 'POST', headers, body });
  };
  return Object.assign(server, {
    ...{ options, sent, marks, reactions, media, uploads, createCall },
    /** A call with a message of a user. */
    createMessage(
      text: string,
      { from = ADA, id = `wamid.in${++lastId}`, ...more }: Record<string, unknown> & { from?: string; id?: string } = {},
      signing: Parameters<typeof createCall>[1] = {},
    ): Request {
      const message = { from, id, timestamp: `${Math.floor(now() / 1000)}`, type: 'text', text: { body: text }, ...more };
      return createCall({ contacts: [{ profile: { name: 'Ada' }, wa_id: from }], messages: [message] }, signing);
    },
    createReceipt({ id, to, biz_opaque_callback_data }: Sent, status: string, more: object = {}): Request {
      const receipt = { id, status, timestamp: `${Math.floor(now() / 1000)}`, recipient_id: to, ...more };
      return createCall({ statuses: [{ ...receipt, ...(biz_opaque_callback_data === undefined ? {} : { biz_opaque_callback_data }) }] });
    },
  });
}

/** Passes a call to a gateway, as its bridge does. */
export const callWebhook = (gw: Pick<TestGateway, 'gateway'>, request: Request): Promise<Response> =>
  gw.gateway.fetch(request, { id: 'hook', scopes: [] });
