import { splitFrontMatter } from '#shared/front-matter.ts';
import { toText } from '../plain-text.ts';
import { addMarkdown } from './markdown-blocks.ts';
import { countLineBreaks, PASSAGE_CHARS, type TextBlock } from './passage-builder.ts';
import type { DecodedPassageRequest, DocumentFacts, PassageContext } from './passage-context.ts';

/** Adds a file's text in blocks, each with its line. Blocks cover the text without a gap, and include the empty lines after them. */
async function addBlocks({ builder, slicer }: PassageContext, blocks: Iterable<string>, options: Pick<TextBlock, 'form'>): Promise<void> {
  let line = 1;
  for (const block of blocks) {
    if (!builder.add({ text: block, place: { line }, gap: '', ...options })) return;
    line += countLineBreaks(block);
    await slicer.after(block.length);
  }
}

/** Paragraphs of a text with the empty lines after them. */
function* splitParagraphs(text: string): Generator<string> {
  const end = /\n[ \t\r]*\n\s*/g;
  let from = 0;
  for (let match = end.exec(text); match; match = end.exec(text)) {
    // The next line's indentation belongs to it.
    const to = match.index + match[0].lastIndexOf('\n') + 1;
    yield text.slice(from, to);
    from = to;
  }
  if (from < text.length) yield text.slice(from);
}

export async function readTextPassages(request: DecodedPassageRequest, context: PassageContext): Promise<DocumentFacts> {
  await addBlocks(context, splitParagraphs(toText(request)), { form: 'prose' });
  return {};
}

export function readMarkdownPassages(request: DecodedPassageRequest, { builder }: PassageContext): DocumentFacts {
  const text = toText(request);
  const heading = addMarkdown(builder, text, { line: 1 });
  const [, declared] = /^title:[ \t]*(.+)$/m.exec(splitFrontMatter(text).yaml ?? '') ?? [];
  const title = declared?.trim().replace(/^(["'])(.*)\1$/, '$2') || heading;
  return title ? { title } : {};
}

/** Source code: parts that start with a line without indentation after an empty line, as declarations do. */
export async function readCodePassages(request: DecodedPassageRequest, context: PassageContext): Promise<DocumentFacts> {
  await addBlocks(context, splitDeclarations(toText(request)), { form: 'lines' });
  return {};
}

function* splitDeclarations(text: string): Generator<string> {
  const start = /\n[ \t]*\n(?=[^\s)\]}])/g;
  let from = 0;
  for (let match = start.exec(text); match; match = start.exec(text)) {
    const to = match.index + match[0].length;
    yield text.slice(from, to);
    from = to;
  }
  if (from < text.length) yield text.slice(from);
}

/** JSON: line by line, after formatting if it is written in one line. */
export function readJsonPassages(request: DecodedPassageRequest, { builder }: PassageContext): DocumentFacts {
  const text = toText(request);
  const formatted = countLineBreaks(text) < text.length / 2000 ? formatJson(text) : undefined;
  // After formatting, its lines are not those of the file.
  builder.add({ text: formatted ?? text, place: formatted === undefined ? { line: 1 } : {}, form: 'lines' });
  return {};
}

function formatJson(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    // Read as it is: a file of lines, or damaged.
    return undefined;
  }
}

/** CSV and TSV: records, with the first one in front of each part. */
export function readTablePassages(request: DecodedPassageRequest, { builder }: PassageContext): DocumentFacts {
  const text = toText(request);
  const units = [...splitRecords(text)];
  const header = units[0]?.trimEnd();
  const isShort = header !== undefined && header.length <= PASSAGE_CHARS.max / 4;
  builder.add({ text, place: { line: 1 }, units, header: isShort ? header : undefined });
  return {};
}

/** Records with their line breaks. A quoted field may contain line breaks. */
function* splitRecords(text: string): Generator<string> {
  let from = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) isQuoted = !isQuoted;
    else if (code === 0x0a && !isQuoted) {
      yield text.slice(from, at + 1);
      from = at + 1;
    }
  }
  if (from < text.length) yield text.slice(from);
}
