import type { Clock } from '#shared/async/clock.ts';
import { webPort } from '#shared/ports/web-port.ts';
import { z } from '#shared/rpc/zod.ts';
import { type Bridge, requireCapability } from '../../ports/bridge-interface.ts';
import type { DocumentReader } from '../../documents/document-reader.ts';
import { getDocumentKind } from '../../documents/document-kinds.ts';
import { MAX_TEXT_CHARS, toUntrustedText } from './office-tools.ts';
import { defineTool } from './define-tool.ts';
import { PageCache } from './page-cache.ts';
import { numberPassages } from './page-passages.ts';
import type { Tool } from './tool-registry.ts';
import { toWebSource } from '../trust/content-sources.ts';
import { requireWebAddress } from './web-address.ts';

interface WebToolsDeps {
  bridge: Pick<Bridge, 'call' | 'provides'>;
  documents: DocumentReader;
  clock: Clock;
  /** Private hosts that the user allows (`tools.webFetch.allow`). */
  allow(): readonly string[];
}

/** Whether a page is on a private host that the person allows. */
function isPrivate(url: string, allow: readonly string[]): boolean {
  const hostname = URL.parse(url)?.hostname ?? '';
  return allow.some((entry) => entry.toLowerCase().includes(hostname));
}

/** Access to the public web, only through the bridge: a browser is limited by CORS, and cannot check which address a name resolves to. */
export function webTools({ bridge, documents, clock, allow }: WebToolsDeps): Tool[] {
  const cache = new PageCache(clock);
  return [
    defineTool({
      name: 'web_fetch',
      title: 'Fetch web page',
      summary: 'Reads a web page, PDF or text file from the internet.',
      description: 'Reads a page, PDF or text file from the internet. Cite its passages by their numbers, such as [2].',
      source: 'core',
      scope: 'web',
      params: z.strictObject({
        url: z.string().trim().min(1).max(4096).describe('https:// or http://'),
        maxChars: z.number().int().min(100).max(MAX_TEXT_CHARS).default(20_000).describe('Maximum characters'),
        offset: z.number().int().min(0).optional().describe('As given in "next"'),
        pages: z.string().trim().max(200).optional().describe('Of a PDF, such as 1-5, 8'),
        raw: z.boolean().default(false).describe('The whole page instead of its article'),
        fresh: z.boolean().default(false).describe('Not from the cache'),
      }),
      // A URL can send data off this machine. It is shown in normalized form, which reveals lookalike characters in host names.
      effect: ({ url }, { taint }) =>
        taint?.isFound(url) && !isPrivate(url, allow()) ? undefined : `Fetch ${URL.parse(url)?.href ?? url}`,
      asksWhen: 'Asks before it reads a page that the web search did not find.',
      check({ url }) {
        requireCapability(bridge, webPort);
        requireWebAddress(url);
      },
      // A URL that was read or typed contains no data added by the model.
      impact: ({ url }, { taint }) => (taint?.hasUrl(url) ? 'reads' : 'changes'),
      async run({ url, maxChars, raw, fresh, ...part }, { signal, taint, cite }) {
        const allowed = [...allow()];
        const answer = await cache.get(
          // A host that is no longer allowed must not be read from the cache.
          JSON.stringify([url, allowed]),
          (known) => bridge.call(webPort, 'web.fetch', { url, allow: allowed, ...(known ? { known } : {}) }, { signal }),
          fresh,
        );
        taint?.add([toWebSource(answer.url)]);
        const { pathname } = new URL(answer.url);
        const document = await documents.read(
          {
            ...part,
            kind: getDocumentKind(pathname, answer.contentType) ?? 'text',
            name: answer.url,
            bytes: answer.body,
            base: answer.url,
            charset: /;\s*charset\s*=\s*["']?([\w-]+)/i.exec(answer.contentType)?.[1],
            readable: !raw,
            limit: maxChars,
          },
          signal,
        );
        const { title = answer.url, text } = document;
        const numbered = cite ? numberPassages({ url: answer.url, title, text, offset: part.offset ?? 0 }, cite) : text;
        return { url: answer.url, contentType: answer.contentType, ...toUntrustedText({ ...document, text: numbered }) };
      },
    }),
  ];
}
