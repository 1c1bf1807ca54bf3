import { isProbablyReaderable, Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom/worker';

/** Longer pages, and pages with more elements, are read as a whole: finding their main part would take too long. */
const MAX_HTML_CHARS = 2_000_000;
const MAX_ELEMENTS = 40_000;

/** The main part of a page, and what it says about itself. */
interface ReadablePage {
  /** HTML of the main part. */
  content: string;
  title?: string;
  byline?: string;
  /** Date of publication, as the page gives it. */
  published?: string;
  site?: string;
}

/** Finds the article in a page; undefined if it has none, such as a list of links. The page must not be nested too deeply. */
export function findReadablePage(html: string): ReadablePage | undefined {
  if (html.length > MAX_HTML_CHARS) return undefined;
  try {
    const { document } = parseHTML(html);
    if (!isProbablyReaderable(document)) return undefined;
    const article = new Readability(document, { maxElemsToParse: MAX_ELEMENTS }).parse();
    if (!article?.content) return undefined;
    const { content, title, byline, publishedTime, siteName } = article;
    const fields = { title, byline, published: publishedTime, site: siteName };
    return {
      content,
      ...Object.fromEntries(Object.entries(fields).flatMap(([name, text]) => (text?.trim() ? [[name, toLine(text)]] : []))),
    };
  } catch {
    // Too many elements, or markup that the parser does not understand: the page is read as a whole.
    return undefined;
  }
}

const MAX_FIELD_CHARS = 500;

const toLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_FIELD_CHARS);
