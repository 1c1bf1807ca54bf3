import { defineMethod } from '../contract.ts';
import { id } from '../frames.ts';
import { z } from '../zod.ts';

/** The features of a channel. */
const channelMetadata = {
  display_name: z.string(),
  category: z.enum(['builtin', 'messenger', 'social', 'work', 'mail', 'sms']),
  /** A colour as `#rrggbb`. */
  color: z.string(),
  /** The name of an icon. */
  icon: z.string(),
  capabilities: z.object({
    typing: z.boolean(),
    reactions: z.boolean(),
    threads: z.boolean(),
    editing: z.boolean(),
    deletion: z.boolean(),
    buttons: z.boolean(),
    pins: z.boolean(),
    read_receipts: z.boolean(),
  }),
  /** Limits in characters and megabytes; null if the channel has none of its own. */
  media_limits: z.object({ max_message_length: z.number().int().nullable(), max_file_size_mb: z.number().nullable() }),
  supports_dm: z.boolean(),
  supports_groups: z.boolean(),
};

const channelKind = z.object({
  id: z.string(),
  ...channelMetadata,
  /** Whether this gateway can start the channel. If not, `reason` says why. */
  startable: z.boolean(),
  reason: z.string().optional(),
  /** The settings of the channel, `channels.<id>.<name>`. */
  settings: z.array(z.object({ name: z.string(), required: z.boolean(), secret: z.boolean(), meaning: z.string() })),
});
export type ChannelKind = z.infer<typeof channelKind>;

const channelState = {
  name: z.string(),
  running: z.boolean(),
  status: z.enum(['running', 'stopped', 'configured', 'error']),
  source: z.enum(['runtime', 'config']),
  ...channelMetadata,
  /** Counters. For the app they count this host since it started; for other channels, all hosts since the channel was set up. Timestamps are in milliseconds since the Unix epoch. */
  metrics: z
    .object({
      messages_received: z.number().int(),
      messages_sent: z.number().int(),
      messages_failed: z.number().int(),
      last_message_at: z.number().nullable(),
      connected_since: z.number().nullable(),
    })
    .optional(),
  /** Why an enabled channel is not running, or what part of it does not work. */
  problem: z.string().optional(),
  /** Senders that are answered: everyone, those in `allowedUsers`, or (`ask`) those whom the owner confirms by a code. */
  access: z.enum(['ask', 'listed', 'everyone']).optional(),
  /** Everyone may write, and the owner has not yet chosen to keep that. */
  asks_access: z.boolean().optional(),
  /** Number of unknown senders that have a code and wait for the owner. */
  senders_waiting: z.number().int().optional(),
  /** Number of messages that wait for an answer. */
  waiting: z.number().int().optional(),
  /** Number of replies that wait for an approval. */
  replies_held: z.number().int().optional(),
  /** Searches used in the calendar month (UTC). `resets_at`: start of the next month, in milliseconds since the Unix epoch. `interval_seconds`: pause between two searches that makes the budget last. */
  budget: z.object({ used: z.number().int(), limit: z.number().int(), resets_at: z.number(), interval_seconds: z.number() }).optional(),
};

/** A person on a channel, by the platform’s id; `name` is the username or empty. */
const sender = z.object({ channelId: z.string(), userId: z.string(), name: z.string() });

export const channelEntry = z.object({ id: z.string(), ...channelState });
/** A channel that is connected or configured. */
export type ChannelEntry = z.infer<typeof channelEntry>;

/** Channels: messaging services through which people reach agents. */
export const channelContracts = {
  'channels.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({ channels: z.array(channelEntry) }),
    docs: 'Lists the channels that are connected or configured.',
    policy: { scope: 'read' },
  }),
  'channels.status': defineMethod({
    params: z
      .strictObject({ channelId: id.optional(), channel_id: id.optional() })
      .refine(({ channelId, channel_id }) => (channelId === undefined) !== (channel_id === undefined), {
        path: ['channelId'],
        message: 'is required exactly once',
      }),
    result: z.object({ channel_id: z.string(), ...channelState }),
    docs: 'Returns the state of one channel. `channel_id` is an older name of the parameter `channelId`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'channels.start': defineMethod({
    params: z.strictObject({ channelId: id }),
    result: z.object({ channel_id: z.string(), ...channelState }),
    docs: 'Turns a configured channel on. If it waits after a failure, it is retried immediately.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'channels.stop': defineMethod({
    params: z.strictObject({ channelId: id }),
    result: z.object({ channel_id: z.string(), ...channelState }),
    docs: 'Turns a channel off. Waiting messages are answered when it is turned on again.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'channels.authorize': defineMethod({
    params: z.strictObject({ channelId: id }),
    result: z.object({ url: z.string() }),
    docs: 'Starts the authorization of a channel’s account (OAuth 2.0 with PKCE) and returns the URL of the consent page, valid for ten minutes. Not available to API keys and channels.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'channels.senders': defineMethod({
    params: z.strictObject({}),
    result: z.object({
      /** Unknown senders that got a code. Times are in milliseconds since the Unix epoch. */
      waiting: z.array(sender.extend({ createdAt: z.number(), expiresAt: z.number() })),
      paired: z.array(sender),
    }),
    docs: 'Lists unknown senders that wait for the owner, and senders that the owner has let in.',
    policy: { scope: 'read' },
  }),
  'channels.confirmSender': defineMethod({
    params: z.strictObject({ channelId: id, code: z.string().min(1).max(100) }),
    result: z.object({ sender }),
    docs: 'Lets in the sender that got the code. A code works once, within an hour. Not available to API keys and channels.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'channels.removeSender': defineMethod({
    params: z.strictObject({ channelId: id, userId: z.string().min(1).max(200) }),
    result: z.object({ removed: z.literal(true) }),
    docs: 'Stops answering a sender that was let in. Not available to API keys and channels.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'channels.catalog': defineMethod({
    params: z.strictObject({}),
    result: z.object({ channels: z.array(channelKind), count: z.number().int() }),
    docs: 'Lists all supported channels with their features, and whether this gateway can start them.',
    policy: { scope: 'read' },
  }),
};
