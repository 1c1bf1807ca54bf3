import { RpcError } from '#shared/rpc/rpc-error.ts';
import { parseCellRange } from '../cell-range.ts';
import { readDocx } from '../docx.ts';
import { readHtml } from '../html.ts';
import { createUnreadableError } from '../document-reader.ts';
import { OfficePackage } from '../office-package.ts';
import { openSlides } from '../pptx.ts';
import { openWorkbook } from '../xlsx.ts';
import { findElement, getChildren, getText } from '../xml-tree.ts';
import { addMarkdown } from './markdown-blocks.ts';
import { MAX_DOCUMENT_CHARS } from './passage-builder.ts';
import type { DecodedPassageRequest, DocumentFacts, PassageContext } from './passage-context.ts';

/** Lines at the start of a sheet's table that later parts repeat: column letters, the rule, and the first row, which usually has names. */
const SHEET_HEADER_LINES = 3;

const toFacts = (title: string | undefined): DocumentFacts => (title === undefined ? {} : { title });

export async function readDocxPassages({ name, bytes }: DecodedPassageRequest, context: PassageContext): Promise<DocumentFacts> {
  const { text, title, next } = await readDocx({ kind: 'docx', name, bytes, limit: MAX_DOCUMENT_CHARS }, context.signal);
  const heading = addMarkdown(context.builder, text);
  if (next) context.builder.isTruncated = true;
  return toFacts(title ?? heading);
}

export async function readHtmlPassages(
  { name, bytes, base, charset }: DecodedPassageRequest,
  { builder, signal }: PassageContext,
): Promise<DocumentFacts> {
  const page = await readHtml({ kind: 'html', name, bytes, base, charset, limit: MAX_DOCUMENT_CHARS }, signal);
  const heading = addMarkdown(builder, page.text);
  if (page.next) builder.isTruncated = true;
  return toFacts(page.title ?? heading);
}

export async function readPptxPassages(request: DecodedPassageRequest, context: PassageContext): Promise<DocumentFacts> {
  const { builder, slicer, signal, onProgress } = context;
  const { count, readSlide } = await openSlides(request, signal);
  let title: string | undefined;
  for (let number = 1; number <= count; number++) {
    const [heading = '', ...rest] = (await readSlide(number)).split('\n');
    const slideTitle = heading.replace(/^## Slide \d+( \(hidden\))?(: )?/, '').trim();
    title ??= slideTitle === '' ? undefined : slideTitle;
    const place = { page: number, ...(slideTitle === '' ? {} : { headings: [slideTitle] }) };
    const text = [slideTitle, rest.join('\n').trim()].filter((part) => part !== '').join('\n\n');
    if (!builder.add({ text, place, form: 'lines' })) break;
    await slicer.after(text.length);
    onProgress({ done: number, total: count });
  }
  return { ...toFacts(title), pageCount: count };
}

export async function readXlsxPassages(request: DecodedPassageRequest, context: PassageContext): Promise<DocumentFacts> {
  const { builder, slicer, signal, onProgress } = context;
  const { sheets, readTable } = await openWorkbook(request, signal);
  const everything = parseCellRange(undefined);
  const visible = sheets.filter(({ hidden }) => !hidden);
  for (const [index, sheet] of visible.entries()) {
    const { table, next } = await readTable(sheet, everything, MAX_DOCUMENT_CHARS - builder.length);
    addMarkdown(builder, table, { place: { sheet: sheet.name }, headerLines: SHEET_HEADER_LINES });
    if (next !== undefined) builder.isTruncated = true;
    if (builder.isTruncated) break;
    await slicer.after(table.length);
    onProgress({ done: index + 1, total: visible.length });
  }
  return {};
}

/** EPUB: a package of pages in the order of its spine (EPUB 3.3, 5.7). */
export async function readEpubPassages({ name, bytes }: DecodedPassageRequest, context: PassageContext): Promise<DocumentFacts> {
  const { builder, signal, onProgress } = context;
  const parts = await OfficePackage.open(name, bytes, signal);
  const container = await parts.readTree('META-INF/container.xml');
  const main = findElement(container, 'rootfiles', 'rootfile')?.attributes['full-path'] ?? '';
  const book = await parts.readTree(main);
  if (!book) throw createUnreadableError(name, 'is not an EPUB file, or it is damaged');
  const items = new Map(getChildren(findElement(book, 'manifest'), 'item').map(({ attributes }) => [attributes['id'], attributes]));
  const pages = getChildren(findElement(book, 'spine'), 'itemref').flatMap(
    ({ attributes }) => items.get(attributes['idref'])?.['href'] ?? [],
  );
  const title = findElement(book, 'metadata', 'dc:title');
  for (const [index, href] of pages.entries()) {
    const path = decodeURIComponent(new URL(href, `file:///${encodeURI(main)}`).pathname).slice(1);
    const page = await parts.readBytes(path);
    if (!page) continue;
    try {
      await readHtmlPassages({ kind: 'html', name: path, bytes: page }, context);
    } catch (error) {
      // A damaged chapter doesn’t affect the others.
      if (!(error instanceof RpcError)) throw error;
    }
    if (builder.isTruncated) break;
    onProgress({ done: index + 1, total: pages.length });
  }
  return toFacts(title === undefined ? undefined : getText(title).trim() || undefined);
}
