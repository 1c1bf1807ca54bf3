import { parseJson } from '#shared/parse-json.ts';
import type { ToolCall } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import { READER } from '../documents/kinds.ts';

/**
 * Tools whose results quote pages and documents in the field `text`. The results of others, and errors, may repeat what the model itself wrote, which would pass a
 * composed address off as one that was read.
 */
const QUOTING_TOOLS: ReadonlySet<string> = new Set(['web_fetch', 'browser_open', 'browser_snapshot', 'browser_tabs']);
/** They quote an attachment. The model may have written a file of the workspace: the tool itself tells if it is the owner's. */
const DOCUMENT_TOOLS: ReadonlySet<string> = new Set([READER.pdf, READER.docx, READER.xlsx, READER.pptx]);

/** The part of a tool's result that the model cannot have written; empty if there is none. */
export function getQuotedText({ tool, args }: Pick<ToolCall, 'tool' | 'args'>, content: string): string {
  if (!QUOTING_TOOLS.has(tool) && !(DOCUMENT_TOOLS.has(tool) && args['path'] === undefined)) return '';
  try {
    const { url, text } = quotation.parse(parseJson(content));
    return [url, text].filter(Boolean).join('\n');
  } catch {
    // An error, or a result that was cut.
    return '';
  }
}

const quotation = z.object({ url: z.string().optional(), text: z.string() });

const URL_TEXT = /(?:https?:\/\/|(?:mailto|tel):)[^\s"'<>`\\^{}|\p{Cc}]+/giu;
/** Punctuation behind an address in a sentence or in Markdown. */
const TRAILING = /[.,;:!?)\]}*_~'"]+$/;
/** Marks of Chinese and Japanese text, which follow an address without a space. */
const CJK_MARK = /[\u3001-\u3020\u3030\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65“”‘’]/u;
/** A host as people type it, and as platforms make a link of it: `example.com` or `example.com/path`. */
const BARE_HOST =
  /(?<![\p{L}\p{N}_@/.:-])(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+(?:xn--[a-z\d-]{1,59}|\p{L}{2,24})(?::\d{1,5})?(?:[/?#][^\s"'<>`\\^{}|()[\]]*)?/giu;
const EMAIL = /[\p{L}\p{N}._%+-]+@(?:[\p{L}\p{N}-]+\.)+\p{L}{2,24}/gu;
/** Everything in a reply that a platform may make a link of. */
const LINK = new RegExp(String.raw`[a-z][a-z\d+.-]*:\/\/[^\s"'<>\x60\\^{}|\p{Cc}]+|${URL_TEXT.source}|${BARE_HOST.source}`, 'giu');
/** Ends of names of files that are no top-level domains, so nothing makes a link of them. */
const FILE_NAME =
  /\.(?:[cm]?[jt]sx?|json|jsonl|html?|css|txt|ya?ml|toml|csv|pdf|png|jpe?g|gif|svg|webp|docx?|xlsx?|pptx?|log|xml|gz|bak)$/i;

/** Collects the addresses that stand in texts, to tell an address that was read or typed from one that a model composed. */
export class VerbatimUrls {
  readonly #texts: string[] = [];
  readonly #urls = new Set<string>();

  /** Costs nothing until an address is looked up. */
  add(text: string): void {
    if (text !== '') this.#texts.push(text);
  }

  /** True if the whole address stands in one of the texts. Its fragment may be left out, but not composed: the scripts of a page read it. */
  has(url: string): boolean {
    const wanted = normalize(url);
    if (wanted === undefined) return false;
    for (const text of this.#texts.splice(0)) for (const found of findUrls(text)) this.#urls.add(found).add(withoutFragment(found));
    return this.#urls.has(wanted);
  }
}

/** Addresses that are listed of one text. */
const MAX_QUOTED = 200;

/** The addresses in a text that the model wrote which stood in what was read or typed, as `URL` spells them. */
export function findQuotedUrls(text: string, known: { hasUrl(url: string): boolean }): string[] {
  return [...new Set(findUrls(text))].filter((url) => known.hasUrl(url)).slice(0, MAX_QUOTED);
}

/** True for a host that the owner of a domain alone has chosen: two names and no path carry no text of a chat. */
const isPlainHost = (text: string): boolean => !text.includes(':') && (/^[^./?#]+\.[^./?#]+$/.test(text) || FILE_NAME.test(text));

/** The text without addresses that are not among `quoted`. */
export function removeComposedUrls(text: string, quoted: readonly string[]): string {
  const known = new Set(quoted);
  const replace = (match: string): string => {
    const written = match.replace(TRAILING, '');
    if (isPlainHost(written)) return match;
    const spellings = toVariants(match).flatMap((variant) => [variant, `https://${variant}`, `http://${variant}`]);
    const isKnown = spellings.some((url) => known.has(normalize(url) ?? ''));
    return isKnown ? match : `[link removed]${match.slice(written.length)}`;
  };
  return text.replace(LINK, replace);
}

/** An address as it was found, without punctuation behind it, and as far as a bracket that was opened before it or a CJK mark. */
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
  // In JSON, which results of tools are, slashes and quotes may be escaped.
  const plain = text.replaceAll('\\/', '/');
  const whole = [...plain.matchAll(URL_TEXT)].flatMap(([match]) => toVariants(match));
  const bare = [...plain.matchAll(BARE_HOST)].flatMap(([match]) => {
    const host = match.replace(TRAILING, '');
    return [`https://${host}`, `http://${host}`];
  });
  const emails = [...plain.matchAll(EMAIL)].map(([address]) => `mailto:${address}`);
  return [...whole, ...bare, ...emails].flatMap((url) => normalize(url) ?? []);
}

function normalize(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (!parsed || !/^(https?|mailto|tel):$/.test(parsed.protocol)) return undefined;
  // An empty fragment is none.
  if (parsed.hash === '') parsed.hash = '';
  return parsed.href;
}

const withoutFragment = (url: string): string => url.split('#', 1)[0] ?? url;
