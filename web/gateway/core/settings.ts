import { isTimeZone } from './local-time.ts';
import { id } from '#shared/rpc/frames.ts';
import { agentConfig } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';

const provider = z.strictObject({
  name: z.string().trim().min(1).max(100).optional(),
  /** With `/v1` or whatever the server has before `/chat/completions`. */
  baseUrl: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .max(1000)
    // A name and password there would be shown in errors and lists; paths are put behind it.
    .refine((text) => {
      const url = URL.parse(text);
      return url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
    }, 'must be without user name, password, query and fragment'),
  /** A secret: kept apart, read as `***`. */
  apiKey: z.string().max(4096).optional(),
  enabled: z.boolean().optional(),
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
  chat: z
    .looseObject({
      /** The default model's key. */
      model: z.string().min(1).max(300).optional(),
      systemPrompt: z.string().max(100_000).optional(),
      timeZone: z.string().max(100).refine(isTimeZone, 'is no time zone').optional(),
    })
    .default({}),
  gateway: z
    .looseObject({
      /** Requests a minute on one socket; 0 switches the limit off. */
      rateLimit: z
        .strictObject({ perMinute: z.number().int().min(0).max(1_000_000), burst: z.number().int().min(1).max(1_000_000) })
        .optional(),
      /** Look for model servers on localhost. */
      discover: z.boolean().optional(),
    })
    .default({}),
});
export type Settings = z.infer<typeof settings>;

/** Whether a dotted path leads to a secret. */
export const isSecret = (path: readonly string[]): boolean => path.length === 3 && path[0] === 'providers' && path[2] === 'apiKey';
