import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Worker } from 'node:worker_threads';
import { getDocumentKind } from '../../web/gateway/documents/document-kinds.ts';
import { readDocument } from '../../web/gateway/documents/read-document.ts';
import type { DocumentRequest, DocumentText } from '../../web/gateway/documents/document-reader.ts';
import { toMinBar, type Figure } from './figures.ts';
import { computeMedian } from './stats.ts';

const DOCUMENT_KINDS = ['pdf', 'docx', 'xlsx', 'pptx'] as const;
const READ_TIMEOUT_MS = 10_000;
/** Number of files listed for each kind: those with the lowest share. */
const MAX_LISTED_FILES = 30;

interface RecallResult {
  file: string;
  kind: string;
  ours: number;
  theirs: number;
  missing: string[];
}

/**
 * Share of the words of each document that Perch's readers find, of those that they or officeparser find. Reads the documents of a folder that
 * `PERCH_BENCH_DOCUMENTS` names, such as a clone of github.com/mozilla/pdf.js.
 */
export async function benchDocumentRecall(): Promise<Figure[]> {
  const folder = process.env['PERCH_BENCH_DOCUMENTS'];
  if (folder === undefined) {
    console.error('recall of documents: skipped, PERCH_BENCH_DOCUMENTS names no folder');
    return [];
  }
  const officeParser = new OfficeParserThread();
  const measured: RecallResult[] = [];
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const kind = DOCUMENT_KINDS.find((each) => each === getDocumentKind(file, ''));
    const found = kind && (await measureFile(join(folder, file), kind, officeParser));
    if (found) measured.push({ ...found, file: relative(folder, join(folder, file)) });
  }
  await officeParser.end();
  return DOCUMENT_KINDS.flatMap((kind) => {
    const files = measured.filter((each) => each.kind === kind);
    if (files.length === 0) return [];
    for (const { file, ours, theirs, missing } of files
      .filter((each) => each.ours < each.theirs)
      .sort((a, b) => a.ours - a.theirs - (b.ours - b.theirs))
      .slice(0, MAX_LISTED_FILES))
      console.error(`${file}: ${formatShare(ours)}, officeparser ${formatShare(theirs)}; missing: ${missing.slice(0, 12).join(' ')}`);
    const mean = (reader: 'ours' | 'theirs'): number => files.reduce((sum, each) => sum + each[reader], 0) / files.length;
    const [ours, theirs] = [mean('ours'), mean('theirs')];
    const below = files.filter((each) => each.ours < each.theirs).length;
    return [
      {
        what: `recall of words, ${files.length} ${kind} files, mean`,
        unit: '',
        ours,
        floor: { name: 'officeparser', value: theirs },
        bar: toMinBar(ours, Math.round(theirs * 1000) / 1000, ''),
      },
      {
        what: '  median',
        unit: '',
        ours: computeMedian(files.map((each) => each.ours)),
        floor: { name: 'officeparser', value: computeMedian(files.map((each) => each.theirs)) },
      },
      { what: '  files below officeparser', unit: '', ours: below },
    ];
  });
}

const formatShare = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** Undefined if neither reader finds a word. */
async function measureFile(
  path: string,
  kind: DocumentRequest['kind'],
  officeParser: OfficeParserThread,
): Promise<Omit<RecallResult, 'file'> | undefined> {
  const bytes = new Uint8Array(readFileSync(path));
  const ours = toWords(await readOurs(path, kind, bytes));
  const theirs = toWords(await officeParser.read(bytes));
  const all = new Set([...ours, ...theirs]);
  if (all.size === 0) return undefined;
  return { kind, ours: ours.size / all.size, theirs: theirs.size / all.size, missing: [...theirs].filter((word) => !ours.has(word)) };
}

async function readOurs(path: string, kind: DocumentRequest['kind'], bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const texts: string[] = [];
  // Reads the following parts, and hidden sheets by their names.
  const parts: NonNullable<DocumentText['next']>[] = [{}];
  try {
    for (const part of parts) {
      const read: DocumentText = await readDocument(
        { kind, name: path, bytes, limit: 5_000_000, ...part },
        AbortSignal.timeout(READ_TIMEOUT_MS),
      );
      texts.push(read.title ?? '', read.text);
      if (read.next) parts.push(read.next);
      if (texts.length > 2) continue;
      for (const sheet of read.sheets ?? []) if (sheet.endsWith(' (hidden)')) parts.push({ sheet: sheet.replace(/ \(hidden\)$/, '') });
    }
  } catch {
    // The file is damaged or has a password.
  }
  return withoutAdditions(texts.join('\n'), kind);
}

/** Removes words that the reader adds: headings of pages and slides, and the letters and numbers of a sheet's columns and rows. */
function withoutAdditions(text: string, kind: DocumentRequest['kind']): string {
  const plain = text
    .replaceAll(/^## (?:Page|Slide) \d+(?: \(hidden\))?/gm, '')
    .replaceAll(/^(?:\(no text\)|\(empty\)|Notes:|Form fields:)/gm, '');
  return kind === 'xlsx' ? plain.replaceAll(/^\| +\|(?: [A-Z]+ \|)+$/gm, '').replaceAll(/^\| \d+ \|/gm, '') : plain;
}

/** officeparser in a thread that is ended if a file takes too long. */
class OfficeParserThread {
  #thread: Worker | undefined;

  async read(bytes: Uint8Array): Promise<string> {
    const thread = (this.#thread ??= new Worker(new URL('children/office-parser.ts', import.meta.url)));
    // Without `removeAllListeners()`, after which a Worker delivers no more messages.
    const answered = Promise.withResolvers<string | undefined>();
    const timer = setTimeout(() => answered.resolve(undefined), READ_TIMEOUT_MS);
    const onerror = (): void => answered.resolve(undefined);
    thread.once('message', answered.resolve).once('error', onerror);
    thread.postMessage(bytes);
    const answer = await answered.promise;
    clearTimeout(timer);
    thread.off('message', answered.resolve).off('error', onerror);
    if (answer === undefined) await this.end();
    // Removes the file names of pictures, which are not text of the document.
    return (answer ?? '').replaceAll(/\[Image: [^\]]*\]/g, '');
  }

  async end(): Promise<void> {
    await this.#thread?.terminate();
    this.#thread = undefined;
  }
}

/** Splits text into words of letters and digits; scripts without spaces into characters. */
function toWords(text: string): Set<string> {
  const plain = text.normalize('NFKC').toLowerCase();
  return new Set(plain.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}]+/gu) ?? []);
}
