import { Parser } from 'htmlparser2';
import { TimeSlicer, SLICE_SIZE } from '#shared/async/time-slicer.ts';
import { paginateText } from './paginate-text.ts';
import { type DecodedRequest, type DocumentText, createUnreadableError } from './document-reader.ts';
import { HtmlWriter, NestingError } from './html-writer.ts';
import { decodeText } from './plain-text.ts';

/** A main part with fewer characters is taken for a shell that scripts fill. */
const MIN_MAIN_CHARS = 200;

/** Reads a page as Markdown: its main part if it has one, without menus, scripts and hidden elements. */
export async function readHtml(
  { name, bytes, base, charset, offset = 0, limit }: DecodedRequest,
  signal: AbortSignal,
): Promise<DocumentText> {
  const html = decodeText(bytes, charset ?? findDeclaredCharset(bytes));
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
  const { title, main, all } = writer.getResult();
  return { ...(title === '' ? {} : { title }), ...paginateText(main.length >= MIN_MAIN_CHARS ? main : all, offset, limit) };
}

function findDeclaredCharset(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('windows-1252').decode(bytes.subarray(0, 2048));
  return /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(start)?.[1];
}
