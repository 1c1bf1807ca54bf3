import { READER } from '../documents/kinds.ts';

/**
 * Tools whose results quote pages and documents. The results of others may repeat what the model itself wrote, which would pass a composed address off as one
 * that was read.
 */
export const QUOTING_TOOLS: ReadonlySet<string> = new Set([
  'web_fetch',
  'browser_open',
  'browser_snapshot',
  'browser_tabs',
  READER.pdf,
  READER.docx,
  READER.xlsx,
  READER.pptx,
]);

const URL_TEXT = /https?:\/\/[^\s"'<>`\\^{}|\u0000-\u001F]+/gi;
/** Punctuation behind an address in a sentence or in Markdown. */
const TRAILING = /[.,;:!?)\]}*_~'"]+$/;
/** A host as people type it: `example.com` or `example.com/path`. */
const BARE_HOST = /(?<![\w@/.:-])(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z]{2,24}(?::\d{1,5})?(?:\/[^\s"'<>`\\^{}|()[\]]*)?/gi;

/** Collects the addresses that stand in texts, to tell an address that was read or typed from one that a model composed. */
export class VerbatimUrls {
  readonly #texts: string[] = [];
  readonly #urls = new Set<string>();

  /** Costs nothing until an address is looked up. */
  add(text: string): void {
    if (text !== '') this.#texts.push(text);
  }

  /** True if the whole address stands in one of the texts. The fragment is ignored, because it is not sent. */
  has(url: string): boolean {
    const wanted = normalize(url);
    if (wanted === undefined) return false;
    for (const text of this.#texts.splice(0)) for (const found of findUrls(text)) this.#urls.add(found);
    return this.#urls.has(wanted);
  }
}

function findUrls(text: string): string[] {
  // In JSON, which results of tools are, slashes and quotes may be escaped.
  const plain = text.replaceAll('\\/', '/');
  const whole = [...plain.matchAll(URL_TEXT)].flatMap(([match]) => [match, match.replace(TRAILING, ''), match.replace(/[)\]].*$/, '')]);
  const bare = [...plain.matchAll(BARE_HOST)].flatMap(([match]) => {
    const host = match.replace(TRAILING, '');
    return [`https://${host}`, `http://${host}`];
  });
  return [...whole, ...bare].flatMap((url) => normalize(url) ?? []);
}

function normalize(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return undefined;
  parsed.hash = '';
  return parsed.href;
}
