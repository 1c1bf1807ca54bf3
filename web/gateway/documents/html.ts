import { Parser } from 'htmlparser2';
import { TimeSlicer, SLICE_SIZE } from '#shared/async/time-slicer.ts';
import { paginateText } from './paginate-text.ts';
import { type DecodedRequest, type DocumentText, createUnreadableError } from './document-reader.ts';
import { HtmlWriter, NestingError } from './html-writer.ts';
import { decodeText } from './plain-text.ts';

/** A main part with fewer characters is taken for a shell that scripts fill. */
const MIN_MAIN_CHARS = 200;

/** An article with less than this share of the page's marked main part is not all of it. */
const MIN_ARTICLE_SHARE = 0.4;

/**
 * Reads a page as Markdown: its main part if it has one, without menus, scripts and hidden elements. `readable`: also finds the article of
 * a page that does not mark it, and returns its author and date.
 */
export async function readHtml(
  { name, bytes, base, charset, readable = false, offset = 0, limit }: DecodedRequest,
  signal: AbortSignal,
): Promise<DocumentText> {
  const html = decodeText(bytes, charset ?? findDeclaredCharset(bytes));
  const { title, main, all } = await toMarkdown(html, name, base, signal);
  const whole = main.length >= MIN_MAIN_CHARS ? main : all;
  const article = readable ? (await import('./readable-page.ts')).findReadablePage(html) : undefined;
  const { content = '', ...about } = article ?? {};
  const text = content === '' ? '' : (await toMarkdown(content, name, base, signal)).all;
  const isArticle = text.length >= Math.max(MIN_MAIN_CHARS, main.length * MIN_ARTICLE_SHARE);
  return { ...(title === '' ? {} : { title }), ...about, ...paginateText(isArticle ? text : whole, offset, limit) };
}

async function toMarkdown(
  html: string,
  name: string,
  base: string | undefined,
  signal: AbortSignal,
): Promise<ReturnType<HtmlWriter['getResult']>> {
  const writer = new HtmlWriter(base);
  const parser = new Parser(writer, { lowerCaseTags: true, decodeEntities: true });
  const slicer = new TimeSlicer(signal);
  try {
    for (let position = 0; position < html.length; position += SLICE_SIZE / 4) {
      parser.write(html.slice(position, position + SLICE_SIZE / 4));
      await slicer.after(SLICE_SIZE / 4);
    }
    parser.end();
  } catch (error) {
    throw error instanceof NestingError ? createUnreadableError(name, 'can’t be read: its elements are nested too deeply') : error;
  }
  return writer.getResult();
}

function findDeclaredCharset(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('windows-1252').decode(bytes.subarray(0, 2048));
  return /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(start)?.[1];
}
