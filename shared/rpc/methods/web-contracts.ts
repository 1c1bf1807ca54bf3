import { MAX_SEARCH_RESULTS } from '../../search-providers.ts';
import { defineMethod } from '../contract.ts';
import { z } from '../zod.ts';

/** A query for a search service. */
export const searchQuery = z.strictObject({
  query: z.string().trim().min(1).max(400).describe('Search terms'),
  limit: z.number().int().min(1).max(MAX_SEARCH_RESULTS).optional().describe('Maximum results'),
  freshness: z.enum(['day', 'week', 'month', 'year']).optional().describe('Only pages of the last day, week, month or year'),
  site: z
    .string()
    .trim()
    .regex(/^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z\d-]{2,63}$/i, 'must be a host name, such as example.com')
    .max(253)
    .optional()
    .describe('Only pages of this host, such as example.com'),
});

const searchResult = z.object({
  title: z.string(),
  url: z.string(),
  /** Excerpt of the page, or for a search by a model, what the model says about it. */
  snippet: z.string(),
  /** Date as the service gives it. */
  published: z.string().optional(),
});
export type SearchResult = z.infer<typeof searchResult>;

/** Content of the public web for a person to see. */
export const webContracts = {
  'web.picture': defineMethod({
    params: z.strictObject({ url: z.string().trim().min(1).max(4096) }),
    result: z.object({ url: z.string(), mimeType: z.string(), content: z.string() }),
    docs: 'Fetches an image (PNG, JPEG, GIF, WebP or AVIF, up to 5 MB) from the public web through the bridge and returns it base64-encoded. `url` is the final URL after redirects.',
    policy: { scope: 'write' },
  }),
  'web.search': defineMethod({
    params: searchQuery,
    result: z.object({
      /** Name of the service, for people. */
      provider: z.string(),
      results: z.array(searchResult),
      /** Remark of the service, such as search engines that did not respond. */
      note: z.string().optional(),
    }),
    docs: 'Searches the web with the service in `tools.webSearch`. Fails with `INVALID_PARAMS` if none is set up, and with the service’s reason if it refuses.',
    policy: { scope: 'write', metered: true },
  }),
};
