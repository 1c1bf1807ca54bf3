import { MAX_COMMAND_MS } from '#shared/ports/exec.ts';
import { isHeaderValue } from '#shared/http/header-value.ts';
import { isTimeZone } from './local-time.ts';
import { id } from '#shared/rpc/frames.ts';
import { logLevel } from '#shared/rpc/log-level.ts';
import { agentConfig, modelKeys, providerKind } from '#shared/rpc/records.ts';
import { visibleName } from '#shared/rpc/visible-name.ts';
import { z } from '#shared/rpc/zod.ts';
import { TOOL_POLICIES } from '#shared/rpc/methods/tools.ts';
import { UPSTREAM_RANGES } from '#shared/upstream-limits.ts';
import { channelSettings, isChannelSecret } from './channels/settings.ts';
import { dreamingSettings } from './dreaming/settings.ts';
import { isMcpSecret, mcpServer, mcpServerName } from './mcp/settings.ts';
import { baseUrlOf } from './providers/kinds.ts';
import { dailySummariesSettings } from './memory/summary/settings.ts';
import { embeddingSettings } from './memory/vectors/settings.ts';
import { compactionSettings, summarySettings } from './compaction/settings.ts';
import { recallSettings } from './recall/settings.ts';
import { MAX_STEPS } from './runs/max-steps.ts';
import { smallModelSetting } from './small-work/settings.ts';

const provider = z
  .strictObject({
    kind: providerKind.optional(),
    name: visibleName(100).optional(),
    /** With `/v1` or whatever the server has before `/chat/completions`; the kind's own where left out. */
    baseUrl: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .max(1000)
      // A name and password there would be shown in errors and lists; paths are put behind it.
      .refine((text) => {
        const url = URL.parse(text);
        return url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
      }, 'must not include a user name, password, query or fragment')
      .optional(),
    /** A secret: kept apart, read as `***`. */
    apiKey: z.string().max(4096).refine(isHeaderValue, 'contains an invalid character, often a hidden one from copying').optional(),
    enabled: z.boolean().optional(),
  })
  .refine((part) => baseUrlOf(part) !== undefined, {
    path: ['baseUrl'],
    error: 'is required for this kind of provider',
  });

const waitMs = z.number().int().min(UPSTREAM_RANGES.ms.min).max(UPSTREAM_RANGES.ms.max);

/** The whole configuration. Keys that are not here are kept as they are, for builds that know them. */
export const settings = z.looseObject({
  providers: z.record(id, provider).default({}),
  agents: z.record(id, agentConfig).default({}),
  /** Which agent answers whom, the first that fits. */
  bindings: z
    .array(z.strictObject({ pattern: z.string().min(1).max(300), agentId: id }))
    .max(1000)
    .default([]),
  channels: channelSettings.default({}),
  chat: z
    .looseObject({
      /** The default model's key. */
      model: z.string().min(1).max(300).optional(),
      /** Keys of models that take over, in this order, where the one before cannot answer. */
      fallbacks: modelKeys.optional(),
      systemPrompt: z.string().max(100_000).optional(),
      smallModel: smallModelSetting,
      /** New chats are named by a model after their first reply. */
      titles: z.boolean().default(true),
      timeZone: z.string().max(100).refine(isTimeZone, 'must be an IANA time zone, such as Europe/Berlin').optional(),
      /** Calls of the model that one reply may take, with the tools between them; the last one has to answer. */
      maxSteps: z.number().int().min(1).max(1000).default(MAX_STEPS),
    })
    .prefault({}),
  models: z
    .looseObject({
      /** Where models for browsers are fetched from: a mirror that answers as Hugging Face does. */
      hub: z
        .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
        .max(1000)
        .optional(),
    })
    .default({}),
  /** `recall`: what is looked for in memory before each reply; `compaction`, `summary`: what becomes of conversations that grow too long (interface document 2, section 2.4). `embeddings`: with which model memory is
   * searched beside its words; `daily_summaries`: whether each day that is over gets a summary by itself. */
  memory: z
    .looseObject({
      recall: recallSettings.prefault({}),
      embeddings: embeddingSettings.prefault({}),
      compaction: compactionSettings.prefault({}),
      summary: summarySettings.prefault({}),
      daily_summaries: dailySummariesSettings.prefault({}),
    })
    .prefault({}),
  /** How memory is consolidated (interface document 2, section 2.3). */
  dreaming: dreamingSettings.prefault({}),
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
      /** Another Chrome that is driven instead of one on the bridge's machine, over CDP. A secret, for its address may carry a token. */
      cdpEndpoint: z
        .string()
        .max(4096)
        .regex(/^(https?|wss?):\/\/\S+$|^\*\*\*$/, 'must be an http, https, ws or wss URL')
        .optional(),
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
  /** `mirror`: whether each workspace also lies in a folder on the bridge's machine. */
  workspaces: z.looseObject({ mirror: z.boolean().default(true) }).prefault({}),
  documents: z
    .looseObject({
      /** Text recognition of pages that are pictures. `languages`: Tesseract's names; `dataUrl`: where their data is, by `{language}`. */
      ocr: z
        .looseObject({
          enabled: z.boolean().default(true),
          languages: z
            .array(z.string().regex(/^[a-z]{3}(_[a-z]{2,10}){0,2}$/i))
            .min(1)
            .max(10)
            .optional(),
          dataUrl: z
            .url({ protocol: /^https?$/ })
            .max(2000)
            .optional(),
        })
        .prefault({}),
    })
    .prefault({}),
  tools: z
    .looseObject({
      /** By a tool's name, or a pattern with `*`: whether it runs without asking (`auto`), after a person's word (`ask`), or never (`deny`). */
      policies: z.record(z.string().min(1).max(200), z.enum(TOOL_POLICIES)).optional(),
      /** By a tool's name, or a pattern with `*`: sources after whose reading it may run without an approval, such as `web:example.com` or `web:*`. */
      afterReading: z.record(z.string().min(1).max(200), z.array(z.string().min(1).max(200)).max(200)).optional(),
      /** Milliseconds that a command may take. */
      execTimeoutMs: z.number().int().min(1000).max(MAX_COMMAND_MS).optional(),
      /** Private places that `web_fetch` may ask: `nas.local` or `127.0.0.1:8080`. */
      webFetch: z.looseObject({ allow: z.array(z.string().min(1).max(300)).max(1000).optional() }).optional(),
      /** Tool servers, by name (interface document 2, section 2.1). */
      mcpServers: z.record(mcpServerName, mcpServer).optional(),
    })
    .default({}),
});
export type Settings = z.infer<typeof settings>;

/** Whether a dotted path leads to a secret. */
export function isSecret(path: readonly string[]): boolean {
  const [section, first, name = '', ...rest] = path;
  if (isMcpSecret(path) || isChannelSecret(path)) return true;
  if (rest.length > 0) return false;
  if (section === 'browser') return first === 'cdpEndpoint' && name === '';
  return section === 'providers' && name === 'apiKey';
}
