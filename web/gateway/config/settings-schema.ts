import { MAX_COMMAND_MS } from '#shared/command-fields.ts';
import { isHeaderValue } from '#shared/http/header-value.ts';
import { isTimeZone } from '#shared/local-time.ts';
import { id } from '#shared/rpc/frames.ts';
import { deliverOptions } from '#shared/rpc/delivery-target.ts';
import { logLevel } from '#shared/rpc/log-level.ts';
import { deliveryTarget } from '#shared/rpc/delivery-target.ts';
import { agentConfig, modelKeys, providerKind } from '#shared/rpc/record-schemas.ts';
import { createVisibleName } from '#shared/rpc/visible-name.ts';
import { z } from '#shared/rpc/zod.ts';
import { TOOL_POLICIES } from '#shared/rpc/tool-policies.ts';
import { UPSTREAM_RANGES } from '#shared/upstream-limits.ts';
import { channelSettings, isChannelSecret } from './sections/channel-settings.ts';
import { dreamingSettings } from '../knowledge/dreaming/dreaming-settings.ts';
import { isMcpSecret, mcpServerSchema, mcpServerName } from './sections/mcp-settings.ts';
import { getBaseUrl } from './sections/provider-kinds.ts';
import { dailySummariesSettings } from '../knowledge/memory/summary/daily-summaries-settings.ts';
import { embeddingSettings } from '../knowledge/memory/vectors/embedding-settings.ts';
import { deliverySettings } from './sections/delivery-settings.ts';
import { compactionSettings, summarySettings } from './sections/compaction-settings.ts';
import { recallSettings } from '../knowledge/recall/recall-settings.ts';
import { MAX_MINUTES, MAX_STEPS } from './sections/run-limits.ts';
import { smallModelSetting } from './sections/small-model-setting.ts';
import { isSearchSecret, webSearchSettings } from './sections/web-search-settings.ts';

const provider = z
  .strictObject({
    kind: providerKind.optional(),
    name: createVisibleName(100).optional(),
    /** Includes `/v1`, or whatever the server has before `/chat/completions`; defaults to the provider kind's address. */
    baseUrl: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .max(1000)
      // No credentials in the URL: they would show up in errors and lists. No query either: paths are appended to the URL.
      .refine((text) => {
        const url = URL.parse(text);
        return url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
      }, 'must not include a user name, password, query or fragment')
      .optional(),
    /** Secret: stored separately, reads as `***`. */
    apiKey: z.string().max(4096).refine(isHeaderValue, 'contains an invalid character, often a hidden one from copying').optional(),
    enabled: z.boolean().optional(),
  })
  .refine((part) => getBaseUrl(part) !== undefined, {
    path: ['baseUrl'],
    error: 'is required for this kind of provider',
  });

const waitMs = z.number().int().min(UPSTREAM_RANGES.ms.min).max(UPSTREAM_RANGES.ms.max);

/** Schema of the whole configuration. Unknown keys are kept for builds that know them. */
export const settingsSchema = z.looseObject({
  providers: z.record(id, provider).default({}),
  agents: z.record(id, agentConfig).default({}),
  /** Assigns messages to agents by pattern; the first match wins. */
  bindings: z
    .array(z.strictObject({ pattern: z.string().min(1).max(300), agentId: id }))
    .max(1000)
    .default([]),
  channels: channelSettings.default({}),
  chat: z
    .looseObject({
      /** Key of the default model. */
      model: z.string().min(1).max(300).optional(),
      /** Keys of fallback models, in the order in which they are tried. */
      fallbacks: modelKeys.optional(),
      systemPrompt: z.string().max(100_000).optional(),
      smallModel: smallModelSetting,
      /** Whether a model names new chats after the first reply. */
      titles: z.boolean().default(true),
      timeZone: z.string().max(100).refine(isTimeZone, 'must be an IANA time zone, such as Europe/Berlin').optional(),
      /** Maximum number of model calls per reply, with tool calls between them; the last one has to answer. */
      maxSteps: z.number().int().min(1).max(1000).default(MAX_STEPS),
      /** Minutes after which the next model call of a reply has to answer. */
      maxMinutes: z.number().int().min(1).max(10_080).default(MAX_MINUTES),
    })
    .prefault({}),
  models: z
    .looseObject({
      /** Address to download browser models from: a mirror of Hugging Face. */
      hub: z
        .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
        .max(1000)
        .optional(),
    })
    .default({}),
  /**
   * `recall`: memory search before each reply. `compaction`, `summary`: handling of conversations that grow too long. `embeddings`: model
   * for semantic memory search in addition to word search. `daily_summaries`: whether each past day is summarized automatically.
   */
  memory: z
    .looseObject({
      recall: recallSettings.prefault({}),
      embeddings: embeddingSettings.prefault({}),
      compaction: compactionSettings.prefault({}),
      summary: summarySettings.prefault({}),
      daily_summaries: dailySummariesSettings.prefault({}),
    })
    .prefault({}),
  /** Consolidation of memory. */
  dreaming: dreamingSettings.prefault({}),
  /** Messages that the gateway sends of its own accord. */
  deliveries: deliverySettings.prefault({}),
  /** Periodic heartbeat that tells the agent to look at pending events. */
  heartbeat: z
    .looseObject({
      enabled: z.boolean().default(false),
      everyMs: z
        .number()
        .int()
        .min(60_000)
        .max(7 * 24 * 3_600_000)
        .default(30 * 60_000),
      /** Message for the agent, sent even if nothing is pending. */
      message: z.string().min(1).max(10_000).optional(),
      /** Key of the model for the checklist (HEARTBEAT.md of the workspace); the small model by default. */
      model: z.string().min(1).max(300).optional(),
      /** Where the result of the checklist is delivered, unless nothing needs attention. */
      deliver: deliverOptions.optional(),
      /** Agent whose main session receives heartbeats and system events; `main` by default. */
      agentId: id.optional(),
    })
    .prefault({}),
  browser: z
    .looseObject({
      /** Private hosts that the driven browser may visit, such as `localhost:5173` or `nas.local`. */
      allow: z.array(z.string().min(1).max(300)).max(1000).default([]),
      /**
       * CDP address of another Chrome to drive, instead of one on the bridge's machine. A secret, since the address may contain a token.
       */
      cdpEndpoint: z
        .string()
        .max(4096)
        .regex(/^(https?|wss?):\/\/\S+$|^\*\*\*$/, 'must be an http, https, ws or wss URL')
        .optional(),
    })
    .prefault({}),
  gateway: z
    .looseObject({
      /** Requests per minute on one socket; 0 disables the limit. */
      rateLimit: z
        .strictObject({ perMinute: z.number().int().min(0).max(1_000_000), burst: z.number().int().min(1).max(1_000_000) })
        .optional(),
      /** Whether to look for model servers on localhost. */
      discover: z.boolean().optional(),
      /**
       * Time-outs for model servers in milliseconds, and the number of consecutive failures after which a server is skipped for a while.
       */
      upstream: z
        .strictObject({
          firstByteMs: waitMs.optional(),
          wholeMs: waitMs.optional(),
          idleMs: waitMs.optional(),
          /** 0 disables skipping. */
          failures: z.number().int().min(UPSTREAM_RANGES.failures.min).max(UPSTREAM_RANGES.failures.max).optional(),
          pauseMs: waitMs.optional(),
        })
        .optional(),
      /** Minimum level of log lines; `info` by default. */
      logLevel: logLevel.optional(),
    })
    .default({}),
  /** `mirror`: whether each workspace is mirrored to a folder on the bridge's machine. */
  workspaces: z.looseObject({ mirror: z.boolean().default(true) }).prefault({}),
  documents: z
    .looseObject({
      /**
       * Text recognition for pages that are images. `languages`: Tesseract's language codes. `dataUrl`: URL of their data, with the
       * placeholder `{language}`.
       */
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
  approvals: z
    .looseObject({
      /** Accounts and devices of the owner that pending approvals are sent to, where they can be allowed or denied. */
      deliver: z.array(deliveryTarget).max(50).default([]),
    })
    .prefault({}),
  tools: z
    .looseObject({
      /** Policy by tool name or pattern with `*`: run without asking (`auto`), after approval (`ask`), or never (`deny`). */
      policies: z.record(z.string().min(1).max(200), z.enum(TOOL_POLICIES)).optional(),
      /**
       * By tool name or pattern with `*`: sources that may have been read when the tool runs without approval, such as `web:example.com` or
       * `web:*`.
       */
      afterReading: z.record(z.string().min(1).max(200), z.array(z.string().min(1).max(200)).max(200)).optional(),
      /** Time limit for commands, in milliseconds. */
      execTimeoutMs: z.number().int().min(1000).max(MAX_COMMAND_MS).optional(),
      /** Private hosts that `web_fetch` may request, such as `nas.local` or `127.0.0.1:8080`. */
      webFetch: z.looseObject({ allow: z.array(z.string().min(1).max(300)).max(1000).optional() }).optional(),
      /** Service that `web_search` uses; without it, the tool is not offered. */
      webSearch: webSearchSettings.optional(),
      /** MCP servers by name. */
      mcpServers: z.record(mcpServerName, mcpServerSchema).optional(),
    })
    .default({}),
});
export type Settings = z.infer<typeof settingsSchema>;

/** Whether a dotted path leads to a secret. */
export function isSecret(path: readonly string[]): boolean {
  const [section, first, name = '', ...rest] = path;
  if (isMcpSecret(path) || isChannelSecret(path) || isSearchSecret(path)) return true;
  if (rest.length > 0) return false;
  if (section === 'browser') return first === 'cdpEndpoint' && name === '';
  return section === 'providers' && name === 'apiKey';
}
