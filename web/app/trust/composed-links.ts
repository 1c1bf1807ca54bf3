import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';

/** Policy for links in a text of a model. */
export interface LinkPolicy {
  /** Outside sources that were read before the text; empty while the reply streams. */
  sources: readonly string[];
  /** Addresses that occurred in the text that was read or typed. All others were composed by the model. */
  quoted: ReadonlySet<string>;
}

/** Policy for a streaming reply; which of its addresses were quoted is known only when it ends. */
export const STREAMING_POLICY: LinkPolicy = { sources: [], quoted: new Set() };

/** Returns undefined if nothing from outside was read: then links open without confirmation. */
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
