import { webPort } from '#shared/ports/web.ts';
import { z } from '#shared/rpc/zod.ts';
import { type Bridge, requireLent } from '../bridge.ts';
import type { Documents } from '../documents/documents.ts';
import { kindOf } from '../documents/kinds.ts';
import { MAX_TEXT, shown } from './office-tools.ts';
import { defineTool } from './define-tool.ts';
import type { Tool } from './registry.ts';
import { toWebSource } from '../trust/sources.ts';
import { requireWebAddress } from './web-address.ts';

export interface WebToolsDeps {
  bridge: Pick<Bridge, 'call' | 'lends'>;
  documents: Documents;
  /** Private places that the person has named (`tools.webFetch.allow`). */
  allow(): readonly string[];
}

/** The way to the public web, by the bridge alone: a browser has CORS in its way, and cannot tell where a name leads. */
export function webTools({ bridge, documents, allow }: WebToolsDeps): Tool[] {
  return [
    defineTool({
      name: 'web_fetch',
      title: 'Fetch web page',
      summary: 'Reads a web page, PDF or text file from the internet.',
      description: 'Reads a page, PDF or text file from the internet.',
      source: 'core',
      scope: 'web',
      params: z.strictObject({
        url: z.string().trim().min(1).max(4096).describe('https:// or http://'),
        maxChars: z.number().int().min(100).max(MAX_TEXT).default(20_000).describe('Maximum characters'),
        offset: z.number().int().min(0).optional().describe('As given in "next"'),
        pages: z.string().trim().max(200).optional().describe('Of a PDF, such as 1-5, 8'),
      }),
      // What is in an address leaves the machine with it.
      // Written as it is asked: a name in other letters that look the same does not look the same then.
      effect: ({ url }) => `Fetch ${URL.parse(url)?.href ?? url}`,
      check({ url }) {
        requireLent(bridge, webPort);
        requireWebAddress(url);
      },
      // An address that was read or typed carries nothing that the model adds to it.
      impact: ({ url }, { taint }) => (taint?.hasUrl(url) ? 'reads' : 'changes'),
      async run({ url, maxChars, ...part }, { signal, taint }) {
        const answer = await bridge.call(webPort, 'web.fetch', { url, allow: [...allow()] }, { signal });
        taint?.add([toWebSource(answer.url)]);
        const { pathname } = new URL(answer.url);
        const text = await documents.read(
          {
            ...part,
            kind: kindOf(pathname, answer.contentType) ?? 'text',
            name: answer.url,
            bytes: answer.body,
            base: answer.url,
            charset: /;\s*charset\s*=\s*["']?([\w-]+)/i.exec(answer.contentType)?.[1],
            limit: maxChars,
          },
          signal,
        );
        return { url: answer.url, contentType: answer.contentType, ...shown(text) };
      },
    }),
  ];
}
