import { call } from '../contract.ts';
import { id } from '../frames.ts';
import { z } from '../zod.ts';

/** What a channel can do, wherever it is. */
const metadata = {
  display_name: z.string(),
  category: z.enum(['builtin', 'messenger', 'social', 'work', 'mail', 'sms']),
  /** `#rrggbb`. */
  color: z.string(),
  /** Name of an icon. */
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
  /** Characters and megabytes; null: no limit of its own. */
  media_limits: z.object({ max_message_length: z.number().int().nullable(), max_file_size_mb: z.number().nullable() }),
  supports_dm: z.boolean(),
  supports_groups: z.boolean(),
};

export const channelKind = z.object({
  id: z.string(),
  ...metadata,
  /** This gateway can start it; else why not. */
  startable: z.boolean(),
  reason: z.string().optional(),
  /** Its settings, `channels.<id>.<name>`. */
  settings: z.array(z.object({ name: z.string(), required: z.boolean(), secret: z.boolean(), meaning: z.string() })),
});
export type ChannelKind = z.infer<typeof channelKind>;

const state = {
  name: z.string(),
  running: z.boolean(),
  status: z.enum(['running', 'stopped', 'configured', 'error']),
  source: z.enum(['runtime', 'config']),
  ...metadata,
  /** Of the app: of this host, since it started. Of others: of whichever host ran them, since the beginning. Times in milliseconds since 1970. */
  metrics: z
    .object({
      messages_received: z.number().int(),
      messages_sent: z.number().int(),
      messages_failed: z.number().int(),
      last_message_at: z.number().nullable(),
      connected_since: z.number().nullable(),
    })
    .optional(),
  /** Why it does not run though it is enabled, or what of it does not work. */
  problem: z.string().optional(),
  /** Messages that wait to be answered. */
  waiting: z.number().int().optional(),
  /** Searches of the calendar month, UTC; when they begin anew, in milliseconds since 1970; seconds between two of them, so that they last. */
  budget: z.object({ used: z.number().int(), limit: z.number().int(), resets_at: z.number(), interval_seconds: z.number() }).optional(),
};

export const channelEntry = z.object({ id: z.string(), ...state });
/** A channel that is connected, or known from the configuration (interface document 1, section 2.2). */
export type ChannelEntry = z.infer<typeof channelEntry>;

/** Where people reach agents beside the app (interface document 1, section 4.1). */
export const channels = {
  'channels.list': call({
    params: z.strictObject({}),
    result: z.object({ channels: z.array(channelEntry) }),
    docs: 'Lists channels: those that are connected, and those that are only configured.',
    policy: { scope: 'read' },
  }),
  'channels.status': call({
    params: z
      .strictObject({ channelId: id.optional(), channel_id: id.optional() })
      .refine(({ channelId, channel_id }) => (channelId === undefined) !== (channel_id === undefined), {
        path: ['channelId'],
        message: 'is needed, once',
      }),
    result: z.object({ channel_id: z.string(), ...state }),
    docs: 'How one channel is; `channel_id` is an earlier name of `channelId`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'channels.start': call({
    params: z.strictObject({ channelId: id }),
    result: z.object({ channel_id: z.string(), ...state }),
    docs: 'Switches a configured channel on, and tries at once where it waits after a failure.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'channels.stop': call({
    params: z.strictObject({ channelId: id }),
    result: z.object({ channel_id: z.string(), ...state }),
    docs: 'Switches a channel off. What waits there is answered when it is switched on again.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'channels.authorize': call({
    params: z.strictObject({ channelId: id }),
    result: z.object({ url: z.string() }),
    docs: 'Begins the authorization of the account of a channel (OAuth 2.0 with PKCE): the address where its owner gives it, good for ten minutes. For persons.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'channels.catalog': call({
    params: z.strictObject({}),
    result: z.object({ channels: z.array(channelKind), count: z.number().int() }),
    docs: 'All channels that could be configured, with what they can do, and whether this gateway can start them.',
    policy: { scope: 'read' },
  }),
};
