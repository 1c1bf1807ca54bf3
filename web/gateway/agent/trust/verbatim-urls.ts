import { parseJson } from '#shared/parse-json.ts';
import type { ToolCall } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import { READER_TOOLS } from '../../documents/document-kinds.ts';

/**
 * Tools whose results quote pages and documents in the field `text`. Other results, and errors, may repeat what the model wrote, which
 * would make a composed address look like one that was read.
 */
const QUOTING_TOOLS: ReadonlySet<string> = new Set(['web_fetch', 'browser_open', 'browser_snapshot', 'browser_tabs']);
/** Tools that quote an attachment. A workspace file may have been written by the model: the tool reports whether it is the owner's. */
const DOCUMENT_TOOLS: ReadonlySet<string> = new Set([READER_TOOLS.pdf, READER_TOOLS.docx, READER_TOOLS.xlsx, READER_TOOLS.pptx]);

/** Tool whose results name pages. Their text may repeat the query, so only the addresses count. */
const SEARCH_TOOL = 'web_search';

/** The part of a tool's result that the model cannot have written; empty if there is none. */
export function getQuotedText({ tool, args }: Pick<ToolCall, 'tool' | 'args'>, content: string): string {
  if (tool === SEARCH_TOOL) return getFoundUrls(content);
  if (!QUOTING_TOOLS.has(tool) && !(DOCUMENT_TOOLS.has(tool) && args['path'] === undefined)) return '';
  try {
    const { url, text } = quotation.parse(parseJson(content));
    return [url, text].filter(Boolean).join('\n');
  } catch {
    // An error, or a truncated result.
    return '';
  }
}

const quotation = z.object({ url: z.string().optional(), text: z.string() });

function getFoundUrls(content: string): string {
  try {
    const { results } = foundPages.parse(parseJson(content));
    return results.map(({ url }) => url).join('\n');
  } catch {
    return '';
  }
}

const foundPages = z.object({ results: z.array(z.object({ url: z.string() })) });

const URL_TEXT = /(?:https?:\/\/|(?:mailto|tel):)[^\s"'<>`\\^{}|\p{Cc}]+/giu;
/** Punctuation after an address in a sentence or in Markdown. */
const TRAILING = /[.,;:!?)\]}*_~'"]+$/;
/** Chinese and Japanese punctuation, which follows an address without a space. */
const CJK_MARK = /[\u3001-\u3020\u3030\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65“”‘’]/u;
/** A host without a scheme, which many platforms turn into a link: `example.com` or `example.com/path`. */
const BARE_HOST =
  /(?<![\p{L}\p{N}_@/.:-])(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+(?:xn--[a-z\d-]{1,59}|\p{L}{2,24})(?::\d{1,5})?(?:[/?#][^\s"'<>`\\^{}|()[\]]*)?/giu;
const EMAIL = /[\p{L}\p{N}._%+-]+@(?:[\p{L}\p{N}-]+\.)+\p{L}{2,24}/gu;
/** Everything in a reply that a platform may turn into a link. */
const LINK = new RegExp(String.raw`[a-z][a-z\d+.-]*:\/\/[^\s"'<>\x60\\^{}|\p{Cc}]+|${URL_TEXT.source}|${BARE_HOST.source}`, 'giu');
/** File extensions that are not top-level domains, so that nothing links them. */
const FILE_NAME =
  /\.(?:[cm]?[jt]sx?|json|jsonl|html?|css|txt|ya?ml|toml|csv|pdf|png|jpe?g|gif|svg|webp|docx?|xlsx?|pptx?|log|xml|gz|bak)$/i;

/** Collects the addresses in texts, to distinguish addresses that were read or typed from those that a model composed. */
export class VerbatimUrls {
  readonly #texts: string[] = [];
  readonly #urls = new Set<string>();

  /** Cheap: the text is not searched until an address is looked up. */
  add(text: string): void {
    if (text !== '') this.#texts.push(text);
  }

  /**
   * Whether the whole address occurs in one of the texts. Its fragment may be missing but not composed, since a page's scripts can read it.
   */
  has(url: string): boolean {
    const normalized = normalizeUrl(url);
    if (normalized === undefined) return false;
    for (const text of this.#texts.splice(0)) for (const found of findUrls(text)) this.#urls.add(found).add(withoutFragment(found));
    return this.#urls.has(normalized);
  }
}

/** Maximum number of addresses found in one text. */
const MAX_QUOTED = 200;

/** Addresses in a text of the model that were read or typed, as normalized by `URL`. */
export function findQuotedUrls(text: string, verbatim: { hasUrl(url: string): boolean }): string[] {
  return [...new Set(findUrls(text))].filter((url) => verbatim.hasUrl(url)).slice(0, MAX_QUOTED);
}

/** Whether a host was chosen entirely by the owner of a domain: two labels and no path cannot carry text of a chat. */
const isPlainHost = (text: string): boolean => !text.includes(':') && (/^[^./?#]+\.[^./?#]+$/.test(text) || FILE_NAME.test(text));

/** Removes all addresses that are not in `quoted` from a text. */
export function removeComposedUrls(text: string, quoted: readonly string[]): string {
  const known = new Set(quoted);
  const replace = (match: string): string => {
    const written = match.replace(TRAILING, '');
    if (isPlainHost(written)) return match;
    const spellings = toVariants(match).flatMap((variant) => [variant, `https://${variant}`, `http://${variant}`]);
    const isKnown = spellings.some((url) => known.has(normalizeUrl(url) ?? ''));
    return isKnown ? match : `[link removed]${match.slice(written.length)}`;
  };
  return text.replace(LINK, replace);
}

/** Candidates for a matched address: without trailing punctuation, up to an unbalanced closing bracket, or up to a CJK mark. */
function toVariants(match: string): string[] {
  const [beforeMark = match] = match.split(CJK_MARK, 1);
  return [match, match.replace(TRAILING, ''), match.slice(0, findUnbalanced(match)), beforeMark, beforeMark.replace(TRAILING, '')];
}

/** Index of the first closing bracket without an opening one; the length if there is none. */
function findUnbalanced(text: string): number {
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    if ('(['.includes(text.charAt(at))) open++;
    else if (')]'.includes(text.charAt(at)) && --open < 0) return at;
  }
  return text.length;
}

function findUrls(text: string): string[] {
  // Results of tools are JSON, in which slashes and quotes may be escaped.
  const plain = text.replaceAll('\\/', '/');
  const whole = [...plain.matchAll(URL_TEXT)].flatMap(([match]) => toVariants(match));
  const bare = [...plain.matchAll(BARE_HOST)].flatMap(([match]) => {
    const host = match.replace(TRAILING, '');
    return [`https://${host}`, `http://${host}`];
  });
  const emails = [...plain.matchAll(EMAIL)].map(([address]) => `mailto:${address}`);
  return [...whole, ...bare, ...emails].flatMap((url) => normalizeUrl(url) ?? []);
}

function normalizeUrl(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (!parsed || !/^(https?|mailto|tel):$/.test(parsed.protocol)) return undefined;
  // Removes an empty fragment.
  if (parsed.hash === '') parsed.hash = '';
  return parsed.href;
}

const withoutFragment = (url: string): string => url.split('#', 1)[0] ?? url;
