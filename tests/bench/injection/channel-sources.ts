import { generateSecretKey, getPublicKey } from 'nostr-tools/pure';
import { nsecEncode } from 'nostr-tools/nip19';
import { mailPort } from '#shared/ports/mail-port.ts';
import { createMailCapability } from '../../../bridge/capabilities/mail/mail-handlers.ts';
import { createRumor, KIND_MESSAGE, KIND_WRAP, wrapRumor } from '../../../web/gateway/automation/channels/nostr/gift-wraps.ts';
import { createCapability, type FakeCapability } from '../../support/fake-bridge.ts';
import { createChannelGateway, egressCapability } from '../../support/channel-gateway.ts';
import { DISCORD_SELF, DISCORD_TOKEN, startDiscordServer } from '../../support/discord-server.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { MATRIX_SELF, MATRIX_TOKEN, startMatrixServer } from '../../support/matrix-server.ts';
import { startImapServer } from '../../support/imap-server.ts';
import { startNostrRelay } from '../../support/nostr-relay.ts';
import {
  ADA as SLACK_OWNER,
  BOB as SLACK_STRANGER,
  SLACK_APP_TOKEN,
  SLACK_BOT_TOKEN,
  startSlackServer,
} from '../../support/slack-server.ts';
import { startSmtpServer } from '../../support/smtp-server.ts';
import { startTelegramServer, TELEGRAM_TOKEN } from '../../support/telegram-server.ts';
import { OutsideWorld } from './fake-ports.ts';
import { World } from './injection-world.ts';
import { type RemoteSource, runOrderInChat } from './local-sources.ts';
import { INJECTED_ORDER, ObedientModel } from './obedient-model.ts';

/** A platform on which somebody writes to the gateway's account. */
interface Platform {
  id: 'telegram' | 'matrix' | 'discord' | 'nostr' | 'slack' | 'email';
  settings: Record<string, unknown>;
  capabilities?: FakeCapability[];
  /** Steps of the clock while a reply is waited for. */
  stepMs?: number;
  write(order: string): unknown;
  hasReplied(): boolean;
  stop(): unknown;
}

/** The order as a message on a platform, whose channel lets everybody write and has all tools. */
const toChannelSource = (name: string, start: (clock: FakeClock) => Promise<Platform>): RemoteSource => ({
  name,
  async open() {
    // Drawings carry the system's time.
    const clock = new FakeClock(Date.now());
    const { id, settings, capabilities = [], stepMs, write, hasReplied, stop } = await start(clock);
    const [outside, model] = [new OutsideWorld(egressCapability, ...capabilities), new ObedientModel()];
    const channel = { enabled: true, allowedUsers: [], tools: ['*'], ...settings };
    const gw = await createChannelGateway({ [id]: channel }, { clock, bridge: outside.bridge, model: model.script });
    const world = await World.on(gw, outside, model);
    await world.client.call('config.patch', { patch: { tools: { policies: { '*': 'auto' } } } });
    world.cleanups.push(stop);
    await gw.advanceUntil(async () => (await gw.status(id)).status === 'running', 'the channel', stepMs);
    return {
      world,
      attack: (_world, order) =>
        runOrderInChat(world, order, async () => {
          await write(INJECTED_ORDER);
          // A reply that quotes outside content waits for approval, which this owner denies.
          const isOver = () => hasReplied() || world.approvalRequests.some(({ tool }) => tool.startsWith('channel_reply'));
          await gw.advanceUntil(isOver, 'the reply', stepMs);
        }),
    };
  },
});

type TelegramMessage = Parameters<Awaited<ReturnType<typeof startTelegramServer>>['write']>[1];

/** The order on Telegram; the accounts with the ids `owners` are the owner's. */
const telegramMessage = (
  name: string,
  message: (order: string) => [string | undefined, TelegramMessage?],
  owners: string[] = [],
): RemoteSource =>
  toChannelSource(name, async (clock) => {
    const server = await startTelegramServer(clock);
    return {
      id: 'telegram',
      settings: { botToken: TELEGRAM_TOKEN, apiBase: server.url, owners },
      write: (order) => server.write(...message(order)),
      hasReplied: () => server.sent.length > 0,
      stop: () => server[Symbol.asyncDispose](),
    };
  });

const OWNER = ['7'];
const user = { type: 'user', date: 1, sender_user: { id: 8, is_bot: false } };
const ADA = '@ada:matrix.test';
const EVE = '@eve:matrix.test';

/** The order in a room on Matrix; `ADA` is the owner. */
const matrixMessage = (name: string, members: string[], about: { name?: string }): RemoteSource =>
  toChannelSource(name, async (clock) => {
    const server = await startMatrixServer(clock);
    const room = server.openRoom(members, about);
    return {
      id: 'matrix',
      settings: { homeserver: `${server.url}/`, accessToken: MATRIX_TOKEN, owners: [ADA] },
      write: (order) => server.write(room, order, { sender: EVE, 'm.mentions': { user_ids: [MATRIX_SELF] } }),
      hasReplied: () => server.sent().length > 0,
      stop: () => server[Symbol.asyncDispose](),
    };
  });

/** The order on Discord; `7` is the owner. */
const discordMessage = (
  name: string,
  toMessage: (order: string) => Parameters<Awaited<ReturnType<typeof startDiscordServer>>['write']>,
): RemoteSource =>
  toChannelSource(name, async (clock) => {
    const server = await startDiscordServer(() => clock.now());
    return {
      id: 'discord',
      settings: { botToken: DISCORD_TOKEN, apiBase: server.url, owners: OWNER },
      stepMs: 100,
      write: (order) => server.write(...toMessage(order)),
      hasReplied: () => server.sent().length > 0,
      stop: () => server.stop(),
    };
  });

const nostrMessage: RemoteSource = toChannelSource('private message of a stranger on Nostr', async (clock) => {
  const relay = await startNostrRelay();
  const [account, stranger] = [new Uint8Array(generateSecretKey()), new Uint8Array(generateSecretKey())];
  const self = getPublicKey(account);
  const countMessages = (): number => relay.events.filter(({ kind }) => kind === KIND_WRAP).length;
  return {
    id: 'nostr',
    settings: { privateKey: nsecEncode(account), relays: [relay.url] },
    stepMs: 50,
    async write(order) {
      const content = { kind: KIND_MESSAGE, created_at: Math.floor(clock.now() / 1000), tags: [['p', self]], content: order };
      relay.store(await wrapRumor(stranger, createRumor(stranger, content), self));
    },
    hasReplied: () => countMessages() > 1,
    stop: () => relay[Symbol.asyncDispose](),
  };
});

const slackMessage: RemoteSource = toChannelSource('private message of a stranger on Slack', async (clock) => {
  const server = await startSlackServer(() => clock.now());
  return {
    id: 'slack',
    settings: { botToken: SLACK_BOT_TOKEN, appToken: SLACK_APP_TOKEN, apiBase: server.url, owners: [SLACK_OWNER] },
    stepMs: 100,
    write: (order) => server.write(order, { from: SLACK_STRANGER }),
    hasReplied: () => server.sent().length > 0,
    stop: () => server.stop(),
  };
});

const mailMessage: RemoteSource = toChannelSource('mail of a stranger', async () => {
  const account = { user: 'perch@example.org', password: 'app password' };
  const [imap, smtp] = [await startImapServer(account), await startSmtpServer(account)];
  const mail = createMailCapability({ log: () => {} });
  const hosts = { imapHost: `imap://127.0.0.1:${imap.port}`, smtpHost: `smtp://127.0.0.1:${smtp.port}` };
  return {
    id: 'email',
    settings: { address: account.user, password: account.password, trustedServer: 'mx.example.org', ...hosts },
    capabilities: [createCapability(mailPort, mail.handlers)],
    stepMs: 100,
    write: (order) =>
      imap.add(
        'INBOX',
        [
          'Authentication-Results: mx.example.org; dmarc=pass header.from=example.com',
          'From: Eve <eve@example.com>',
          `To: ${account.user}`,
          'Subject: Tulips',
          'Message-ID: <m1@example.com>',
          '',
          order,
        ].join('\r\n'),
      ),
    hasReplied: () => smtp.sent.length > 0,
    async stop() {
      mail.close();
      await Promise.all([imap.stop(), smtp.stop()]);
    },
  };
});

export const CHANNEL_SOURCES: readonly RemoteSource[] = [
  telegramMessage('channel message of a stranger', (order) => [order]),
  telegramMessage('channel message of a stranger in a group', (order) => [`@perch_test_bot ${order}`, { id: 8, chat: -5 }], OWNER),
  telegramMessage('message that the owner forwards', (order) => [order, { more: { forward_origin: user } }], OWNER),
  telegramMessage('message that the owner forwards, by an old server', (order) => [order, { more: { forward_date: 1 } }], OWNER),
  matrixMessage('private message of a stranger on Matrix', [EVE], {}),
  matrixMessage('message of a stranger in a room of the owner on Matrix', [ADA, EVE], { name: 'Kitchen' }),
  discordMessage('private message of a stranger on Discord', (order) => [order, { from: '8' }]),
  discordMessage('mention by a stranger in a channel of Discord', (order) => [
    `<@${DISCORD_SELF}> ${order}`,
    { from: '8', channel: '501' },
  ]),
  discordMessage('message that the owner forwards on Discord', (order) => ['', { message_snapshots: [{ message: { content: order } }] }]),
  nostrMessage,
  slackMessage,
  mailMessage,
];
