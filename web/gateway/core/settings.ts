import { MAX_COMMAND_MS } from '#shared/ports/exec.ts';
import { isTimeZone } from './local-time.ts';
import { id } from '#shared/rpc/frames.ts';
import { logLevel } from '#shared/rpc/log-level.ts';
import { agentConfig, modelKeys, providerKind } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import { UPSTREAM_RANGES } from '#shared/upstream-limits.ts';
import { baseUrlOf } from './providers/kinds.ts';

/** What may be decided of a tool once and for all. */
const POLICIES = ['auto', 'ask', 'deny'] as const;
export type ToolPolicy = (typeof POLICIES)[number];

const provider = z
  .strictObject({
    kind: providerKind.optional(),
    name: z.string().trim().min(1).max(100).optional(),
    /** With `/v1` or whatever the server has before `/chat/completions`; the kind's own where left out. */
    baseUrl: z
      .url({ protocol: /^https?$/, error: 'must be an http or https address' })
      .max(1000)
      // A name and password there would be shown in errors and lists; paths are put behind it.
      .refine((text) => {
        const url = URL.parse(text);
        return url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
      }, 'must be without user name, password, query and fragment')
      .optional(),
    /** A secret: kept apart, read as `***`. */
    apiKey: z.string().max(4096).optional(),
    enabled: z.boolean().optional(),
  })
  .refine((part) => baseUrlOf(part) !== undefined, {
    path: ['baseUrl'],
    error: 'is missing: only kinds with an address of their own go without',
  });

const waitMs = z.number().int().min(UPSTREAM_RANGES.ms.min).max(UPSTREAM_RANGES.ms.max);

const users = z.array(z.string().min(1).max(200)).max(10_000).nullable();
const pollIntervalSeconds = z.number().int().min(60, 'must be 60 seconds or more').max(86_400);
/** What every channel has. Their other settings are kept as they are: each platform has its own. */
const channel = z.looseObject({
  enabled: z.boolean().optional(),
  /** Who may write; empty or null: everyone. */
  allowedUsers: users.optional(),
  pollIntervalSeconds: pollIntervalSeconds.optional(),
  /** Who answers there. */
  agentId: id.optional(),
  /** Tools that runs from there may use: none, unless they are named. */
  tools: z.array(z.string().min(1).max(200)).max(1000).optional(),
});
/** The social channel (interface document 2, section 2.2). */
const social = channel.extend({
  bearerToken: z.string().min(1).max(4096),
  socialUsername: z
    .string()
    .max(100)
    .regex(/^[^@]*$/, 'must be without the at-sign')
    .default(''),
  monitorMentions: z.boolean().default(true),
  monitorDMs: z.boolean().default(false),
  pollIntervalSeconds: pollIntervalSeconds.default(120),
  allowedUsers: users.default(null),
});

/** The whole configuration. Keys that are not here are kept as they are, for builds that know them. */
export const settings = z.looseObject({
  providers: z.record(id, provider).default({}),
  agents: z.record(id, agentConfig).default({}),
  /** Which agent answers whom, the first that fits. */
  bindings: z
    .array(z.strictObject({ pattern: z.string().min(1).max(300), agentId: id }))
    .max(1000)
    .default([]),
  channels: z
    .object({ x: social.optional() })
    .catchall(channel)
    .superRefine((given, context) => {
      for (const name of Object.keys(given))
        if (!id.safeParse(name).success) context.addIssue({ code: 'custom', path: [name], message: 'is no id' });
    })
    .default({}),
  chat: z
    .looseObject({
      /** The default model's key. */
      model: z.string().min(1).max(300).optional(),
      /** Keys of models that take over, in this order, where the one before cannot answer. */
      fallbacks: modelKeys.optional(),
      systemPrompt: z.string().max(100_000).optional(),
      timeZone: z.string().max(100).refine(isTimeZone, 'is no time zone').optional(),
    })
    .default({}),
  /** At each beat the agent is told to look at what waits for it. */
  heartbeat: z
    .looseObject({
      enabled: z.boolean().default(false),
      everyMs: z
        .number()
        .int()
        .min(60_000)
        .max(7 * 24 * 3_600_000)
        .default(30 * 60_000),
      /** What it is told even where nothing waits. */
      message: z.string().min(1).max(10_000).optional(),
      /** Whose main session beats, and gets the system events; `main` where left out. */
      agentId: id.optional(),
    })
    .prefault({}),
  browser: z
    .looseObject({
      /** Private places that the driven browser may go to: `localhost:5173` or `nas.local`. */
      allow: z.array(z.string().min(1).max(300)).max(1000).default([]),
    })
    .prefault({}),
  gateway: z
    .looseObject({
      /** Requests a minute on one socket; 0 switches the limit off. */
      rateLimit: z
        .strictObject({ perMinute: z.number().int().min(0).max(1_000_000), burst: z.number().int().min(1).max(1_000_000) })
        .optional(),
      /** Look for model servers on localhost. */
      discover: z.boolean().optional(),
      /** How long models' servers are waited for, in milliseconds, and after how many failures in a row one is left alone, for how long. */
      upstream: z
        .strictObject({
          firstByteMs: waitMs.optional(),
          wholeMs: waitMs.optional(),
          idleMs: waitMs.optional(),
          /** 0: it is asked whatever happened. */
          failures: z.number().int().min(UPSTREAM_RANGES.failures.min).max(UPSTREAM_RANGES.failures.max).optional(),
          pauseMs: waitMs.optional(),
        })
        .optional(),
      /** Lines of the log below it are not kept; `info` by default. */
      logLevel: logLevel.optional(),
    })
    .default({}),
  tools: z
    .looseObject({
      /** By a tool's name, or a pattern with `*`: whether it runs without asking (`auto`), after a person's word (`ask`), or never (`deny`). */
      policies: z.record(z.string().min(1).max(200), z.enum(POLICIES)).optional(),
      /** Milliseconds that a command may take. */
      execTimeoutMs: z.number().int().min(1000).max(MAX_COMMAND_MS).optional(),
      /** Private places that `web_fetch` may ask: `nas.local` or `127.0.0.1:8080`. */
      webFetch: z.looseObject({ allow: z.array(z.string().min(1).max(300)).max(1000).optional() }).optional(),
    })
    .default({}),
});
export type Settings = z.infer<typeof settings>;

const CHANNEL_SECRETS = new Set(['bearerToken', 'botToken', 'appToken', 'accessToken', 'token', 'password', 'secret']);

/** Whether a dotted path leads to a secret. */
export function isSecret([section, , name = '', ...rest]: readonly string[]): boolean {
  if (rest.length > 0) return false;
  return (section === 'providers' && name === 'apiKey') || (section === 'channels' && CHANNEL_SECRETS.has(name));
}
