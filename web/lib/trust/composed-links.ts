import type { HistoryMessage } from '#shared/rpc/records.ts';

/** How addresses in a text of a model are followed. */
export interface LinkPolicy {
  /** Addresses in the text that stood in what was read or typed; empty while it is being written. */
  sources: readonly string[];
  /** Addresses that stood in what was read or typed. All others were composed by the model. */
  quoted: ReadonlySet<string>;
}

/** For a reply that is being written: which of its addresses were read is known at its end. */
export const UNFINISHED: LinkPolicy = { sources: [], quoted: new Set() };

/** Undefined if nothing from outside was read: no link asks before it opens. */
export function toLinkPolicy({ outside = [], quotedUrls = [] }: Pick<HistoryMessage, 'outside' | 'quotedUrls'>): LinkPolicy | undefined {
  return outside.length === 0 ? undefined : { sources: outside, quoted: new Set(quotedUrls) };
}

/** True if the model composed the address, which may carry what it read to whoever has the address, on the web, by mail or by any other scheme. */
export function isComposed(url: string, { quoted }: LinkPolicy): boolean {
  const parsed = URL.parse(url);
  if (!parsed) return false;
  // An empty fragment is none; another one is read by the scripts of the page.
  if (parsed.hash === '') parsed.hash = '';
  return !quoted.has(parsed.href);
}
