import { expect, it } from 'vitest';
import { createDeliveries } from '../../../../tests/support/delivery-gateway.ts';
import { PlatformError } from '../channels/platform-request.ts';
import type { Carrier, DeliveryRequest } from './carrier.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const request = (change: Partial<DeliveryRequest> = {}): DeliveryRequest => ({
  key: 'job:1',
  target: { kind: 'channel', channelId: 'telegram', to: '7' },
  text: 'Hello',
  source: { kind: 'job', id: '1' },
  ...change,
});

type Step = 'ok' | 'delivered' | Error;

/** A carrier that follows a script, then succeeds. */
function createCarrier(steps: Step[] = [], find?: Carrier['find']): { carrier: Carrier; sent: string[] } {
  const sent: string[] = [];
  const carrier: Carrier = {
    async send({ text }, { onSent }) {
      const step = steps.shift() ?? 'delivered';
      if (step instanceof Error) throw step;
      sent.push(text);
      const id = `m${sent.length}`;
      await onSent(id);
      return { state: step === 'ok' ? 'accepted' : step, sentIds: [id] };
    },
    ...(find ? { find } : {}),
  };
  return { carrier, sent };
}

async function start(steps: Step[] = [], options: { find?: Carrier['find'] } & Parameters<typeof createDeliveries>[0] = {}) {
  const { find, ...rest } = options;
  const setup = await createDeliveries(rest);
  const { carrier, sent } = createCarrier(steps, find);
  const open = async () => {
    const deliveries = await setup.open();
    deliveries.registerCarrier('channel', carrier);
    deliveries.start();
    return deliveries;
  };
  const deliveries = await open();
  const pass = async (ms: number): Promise<void> => {
    await setup.settle();
    setup.clock.advance(ms);
    await setup.settle();
  };
  return { ...setup, deliveries, sent, open, pass };
}

it('sends once for a key, and keeps the first request', async () => {
  const { deliveries, sent, settle } = await start();
  const first = await deliveries.send(request());
  const second = await deliveries.send(request({ text: 'Again' }));
  await settle();
  expect(second.id).toBe(first.id);
  expect(sent).toEqual(['Hello']);
  expect(await deliveries.get(first.id)).toMatchObject({ state: 'delivered', attempts: 1, text: 'Hello' });
});

it('rejects an empty text, and an unknown id', async () => {
  const { deliveries } = await start();
  await expect(deliveries.send(request({ text: ' \n' }))).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(deliveries.get('none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(deliveries.cancel('none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('retries what was certainly not sent, with growing delays', async () => {
  const busy = new PlatformError('Busy', { isUnsent: true });
  const { deliveries, sent, pass } = await start([busy, busy]);
  const { id } = await deliveries.send(request());
  await pass(0);
  expect(await deliveries.get(id)).toMatchObject({ state: 'waiting', waitsFor: 'retry', attempts: 1, error: 'Busy' });
  await pass(3_000);
  expect(await deliveries.get(id)).toMatchObject({ state: 'waiting', attempts: 2 });
  await pass(5_000);
  expect(sent).toEqual([]);
  await pass(1_000);
  expect(sent).toEqual(['Hello']);
  expect(await deliveries.get(id)).toMatchObject({ state: 'delivered', attempts: 3 });
  expect(await deliveries.get(id)).not.toHaveProperty('error');
});

it('waits for everything of a channel as long as the platform asks', async () => {
  const { deliveries, sent, pass } = await start([new PlatformError('Too many requests', { isUnsent: true, retryAfterMs: MINUTE })]);
  await deliveries.send(request());
  await pass(0);
  await deliveries.send(request({ key: 'other', target: { kind: 'channel', channelId: 'telegram', to: '8' }, text: 'Other' }));
  await pass(MINUTE - 1000);
  expect(sent).toEqual([]);
  await pass(1_000);
  expect(sent.sort()).toEqual(['Hello', 'Other']);
});

it('ends as unsent if the platform refuses the message, or after a day', async () => {
  const down = Array.from({ length: 200 }, () => new PlatformError('Down', { isUnsent: true }));
  const { deliveries, pass, sent } = await start([new PlatformError('No such chat', { isUnsent: true, refused: true }), ...down]);
  const refused = await deliveries.send(request());
  await pass(0);
  expect(await deliveries.get(refused.id)).toMatchObject({ state: 'unsent', error: 'No such chat', attempts: 1 });
  const late = await deliveries.send(request({ key: 'late' }));
  for (let passed = 0; passed < 25 * HOUR; passed += 5 * MINUTE) await pass(5 * MINUTE);
  expect(await deliveries.get(late.id)).toMatchObject({ state: 'unsent', error: 'Down' });
  expect(sent).toEqual([]);
});

it('never sends again what may have been sent, until a person asks for it', async () => {
  const { deliveries, sent, pass } = await start([new PlatformError('The connection was lost.')]);
  const { id } = await deliveries.send(request());
  await pass(48 * HOUR);
  expect(await deliveries.get(id)).toMatchObject({ state: 'unconfirmed', error: 'The connection was lost.' });
  expect(sent).toEqual([]);
  await expect(deliveries.cancel(id)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await deliveries.resend(id);
  await pass(0);
  expect(sent).toEqual(['Hello']);
  expect(await deliveries.get(id)).toMatchObject({ state: 'delivered' });
  await expect(deliveries.resend(id)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
});

it.each([
  { name: 'is there', found: 'm9', sent: [], attempts: 1 },
  { name: 'is not there', found: null, sent: ['Hello'], attempts: 2 },
])('looks up what may have been sent: $name', async ({ found, ...expected }) => {
  const { deliveries, sent, pass } = await start([new PlatformError('The connection was lost.')], { find: async () => found });
  const { id } = await deliveries.send(request());
  await pass(0);
  expect(await deliveries.get(id)).toMatchObject({ state: 'sending' });
  // The platform may still be working on it.
  await pass(29_000);
  expect(await deliveries.get(id)).toMatchObject({ state: 'sending', attempts: 1 });
  await pass(1_000);
  expect(await deliveries.get(id)).toMatchObject({ state: 'delivered', attempts: expected.attempts });
  if (found === null) expect(sent).toEqual(expected.sent);
});

it('after a crash while sending: looks it up, or calls it unconfirmed', async () => {
  for (const find of [undefined, async () => null]) {
    const never = createCarrier();
    const setup = await createDeliveries();
    const first = await setup.open();
    first.registerCarrier('channel', { ...never.carrier, send: () => new Promise(() => {}) });
    first.start();
    const { id } = await first.send(request());
    await setup.settle();
    first.stop();
    const { carrier, sent } = createCarrier([], find);
    const second = await setup.open();
    second.registerCarrier('channel', carrier);
    second.start();
    await setup.settle();
    setup.clock.advance(30_000);
    await setup.settle();
    expect(await second.get(id)).toMatchObject(find ? { state: 'delivered', attempts: 2 } : { state: 'unconfirmed', attempts: 1 });
    expect(sent).toEqual(find ? ['Hello'] : []);
  }
});

it('calls nothing delivered before the platform says so', async () => {
  const { deliveries, pass } = await start(['ok', 'ok', 'ok', 'ok']);
  const ids: string[] = [];
  // One after another: the platform's ids follow the order in which they are stored.
  for (const key of ['a', 'b', 'c', 'd']) ids.push((await deliveries.send(request({ key, text: key }))).id);
  await pass(0);
  for (const id of ids) expect(await deliveries.get(id)).toMatchObject({ state: 'accepted' });
  const [a = '', b = '', c = '', d = ''] = ids;
  const receipt = (sentId: string, state: 'delivered' | 'read' | 'failed') => ({ sentId, state, at: 5 });
  // Repeated, and in the wrong order.
  deliveries.receive('telegram', [
    receipt('m1', 'read'),
    receipt('m1', 'delivered'),
    receipt('m2', 'delivered'),
    receipt('m2', 'delivered'),
  ]);
  deliveries.receive('telegram', [{ ...receipt('m3', 'failed'), error: 'The number is unknown.' }]);
  deliveries.receive('other', [receipt('m4', 'read')]);
  await pass(24 * HOUR);
  expect(await deliveries.get(a)).toMatchObject({ state: 'read', readAt: 5 });
  expect(await deliveries.get(b)).toMatchObject({ state: 'delivered', deliveredAt: 5 });
  expect(await deliveries.get(c)).toMatchObject({ state: 'unsent', error: 'The number is unknown.' });
  expect(await deliveries.get(d)).toMatchObject({ state: 'unconfirmed' });
});

it('waits for the end of the quiet hours, unless it is urgent', async () => {
  // The clock starts at 12:00 UTC.
  const quiet = await start([], { settings: { quietHours: { from: '11:30', to: '13:00' } } });
  const { id } = await quiet.deliveries.send(request());
  await quiet.deliveries.send(request({ key: 'urgent', text: 'Now', isUrgent: true }));
  await quiet.pass(0);
  expect(quiet.sent).toEqual(['Now']);
  expect(await quiet.deliveries.get(id)).toMatchObject({ state: 'waiting', waitsFor: 'quietHours' });
  await quiet.pass(HOUR);
  expect(quiet.sent).toEqual(['Now', 'Hello']);
  const other = await start([], { settings: { quietHours: { from: '11:30', to: '13:00', timeZone: 'America/New_York' } } });
  await other.deliveries.send(request());
  await other.pass(0);
  expect(other.sent).toEqual(['Hello']);
});

it('sends the messages of a digest as one, at its time', async () => {
  const { deliveries, sent, pass } = await start([], { settings: { digest: { at: '18:00' } } });
  const send = (key: string, change: Partial<DeliveryRequest> = {}) =>
    deliveries.send(request({ key, text: `Text ${key}`, title: `Title ${key}`, isForDigest: true, ...change }));
  const { id } = await send('a');
  await send('b');
  await send('c', { target: { kind: 'channel', channelId: 'telegram', to: '8' } });
  await pass(5 * HOUR);
  expect(sent).toEqual([]);
  expect(await deliveries.get(id)).toMatchObject({ state: 'waiting', waitsFor: 'digest' });
  await pass(HOUR);
  expect(sent.sort()).toEqual(['Text c', 'Title a\nText a\n\nTitle b\nText b']);
  expect(await deliveries.get(id)).toMatchObject({ state: 'delivered', text: 'Text a', digestId: expect.any(String) });
});

it('cancels what waits', async () => {
  const { deliveries, sent, pass } = await start([], { settings: { quietHours: { from: '11:30', to: '13:00' } } });
  const { id } = await deliveries.send(request());
  await deliveries.cancel(id);
  await pass(2 * HOUR);
  expect(sent).toEqual([]);
  expect(await deliveries.get(id)).toMatchObject({ state: 'unsent', error: 'Cancelled' });
});

it('removes addresses that a model composed after reading from outside', async () => {
  const { deliveries, sent, settle } = await start();
  const text = 'See https://evil.test/?q=secret and https://news.test/a';
  const target = { kind: 'channel', channelId: 'telegram' } as const;
  await deliveries.send(request({ target, text, outside: ['web:news.test'], quotedUrls: ['https://news.test/a'] }));
  await settle();
  expect(sent[0]).not.toContain('evil.test');
  expect(sent[0]).toContain('https://news.test/a');
});

it('holds what outside content influenced until a person releases it, unless it goes to the owner', async () => {
  const { deliveries, sent, pass } = await start();
  const { id } = await deliveries.send(request({ outside: ['web:news.test'] }));
  const { id: late } = await deliveries.send(request({ key: 'late', outside: ['web:news.test'] }));
  await pass(60_000);
  expect(sent).toEqual([]);
  expect(await deliveries.get(id)).toMatchObject({ state: 'waiting', waitsFor: 'approval' });
  await deliveries.resend(id);
  await pass(0);
  expect(sent).toEqual(['Hello']);
  await pass(25 * HOUR);
  expect(await deliveries.get(late)).toMatchObject({ state: 'unsent' });
  expect(sent).toEqual(['Hello']);
});

it('lists the newest first, page by page', async () => {
  const { deliveries, clock } = await start();
  for (const key of ['a', 'b', 'c']) {
    await deliveries.send(request({ key, text: key }));
    clock.advance(1);
  }
  const first = await deliveries.list({ limit: 2 });
  expect(first.deliveries.map(({ text }) => text)).toEqual(['c', 'b']);
  const second = await deliveries.list({ limit: 2, before: first.next ?? 0 });
  expect(second).toMatchObject({ deliveries: [{ text: 'a' }], next: null });
});
