import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';

/** How addresses in a text of a model are followed. */
export interface LinkPolicy {
  /** Addresses in the text that was read or typed; empty while the reply streams. */
  sources: readonly string[];
  /** Addresses that occurred in the text that was read or typed. All others were composed by the model. */
  quoted: ReadonlySet<string>;
}

/** Policy for a reply that is still streaming: which of its addresses were read is known when it ends. */
export const STREAMING_POLICY: LinkPolicy = { sources: [], quoted: new Set() };

/** Undefined if nothing from outside was read: no link asks before it opens. */
export function toLinkPolicy({ outside = [], quotedUrls = [] }: Pick<HistoryMessage, 'outside' | 'quotedUrls'>): LinkPolicy | undefined {
  return outside.length === 0 ? undefined : { sources: outside, quoted: new Set(quotedUrls) };
}

/** True if the model composed the address, which could then leak text to its recipient, over the web, mail or any other scheme. */
export function isComposed(url: string, { quoted }: LinkPolicy): boolean {
  const parsed = URL.parse(url);
  if (!parsed) return false;
  // An empty fragment does not count; any other one can be read by the scripts of the page.
  if (parsed.hash === '') parsed.hash = '';
  return !quoted.has(parsed.href);
}
