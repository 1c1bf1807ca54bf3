import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

/** Bytes of a page, unpacked; and how long all of it may take, redirects too. */
export const WEB_LIMITS = { bytes: 5 * 1024 * 1024, ms: 30_000, redirects: 5 } as const;

export const webPort = definePort({
  kind: 'web',
  featureName: 'Fetching web pages',
  calls: {
    'web.fetch': defineMethod({
      params: z.object({
        url: z.string().max(4096),
        /** Private places that the person has named: `nas.local` or `127.0.0.1:8080`. */
        allow: z.array(z.string().max(300)).max(1000).default([]),
        /** Any other type of content is refused before it is read. */
        wants: z.enum(['text', 'picture']).default('text'),
        /** Validator of a copy, from `etag` or `lastModified` of an earlier answer: if it still holds, the status is 304. */
        known: z.object({ etag: z.string().max(1000).optional(), lastModified: z.string().max(100).optional() }).optional(),
      }),
      result: z.object({
        /** Final address after redirects. */
        url: z.string(),
        status: z.number().int(),
        contentType: z.string(),
        /** Base64. */
        body: z.string(),
        /** The headers of a cache, if the server sent them. */
        cacheControl: z.string().optional(),
        etag: z.string().optional(),
        lastModified: z.string().optional(),
      }),
      docs: 'Fetches a public web page or image. Private addresses are refused, also after name resolution and redirects.',
      policy: { scope: 'write' },
    }),
  },
  events: {},
});
