import { Parser } from 'htmlparser2';
import { Breath, SLICE } from './breath.ts';
import { cut } from './cut.ts';
import { type DecodedRequest, type DocumentText, unreadable } from './documents.ts';
import { HtmlWriter, TooDeep } from './html-writer.ts';
import { decoded } from './plain.ts';

/** A main part with fewer characters is taken for a shell that scripts fill. */
const MAIN_CHARS = 200;

/** Reads a page as Markdown: its main part if it has one, without menus, scripts and hidden elements. */
export async function readHtml(
  { name, bytes, base, charset, offset = 0, limit }: DecodedRequest,
  signal: AbortSignal,
): Promise<DocumentText> {
  const html = decoded(bytes, charset ?? declaredCharset(bytes));
  const writer = new HtmlWriter(base);
  const parser = new Parser(writer, { lowerCaseTags: true, decodeEntities: true });
  const breath = new Breath(signal);
  try {
    for (let at = 0; at < html.length; at += SLICE / 4) {
      parser.write(html.slice(at, at + SLICE / 4));
      await breath.after(SLICE / 4);
    }
    parser.end();
  } catch (error) {
    throw error instanceof TooDeep ? unreadable(name, 'can’t be read: its elements are nested too deeply') : error;
  }
  const { title, main, all } = writer.result();
  return { ...(title === '' ? {} : { title }), ...cut(main.length >= MAIN_CHARS ? main : all, offset, limit) };
}

function declaredCharset(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('windows-1252').decode(bytes.subarray(0, 2048));
  return /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(start)?.[1];
}
