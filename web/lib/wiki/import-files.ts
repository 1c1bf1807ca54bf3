import { splitHead } from '#shared/front-matter.ts';

/** Bytes of a file that is read in: a page may have as many (`wiki.savePage`). */
export const MOST_BYTES = 7 * 1024 * 1024;

/** A file that somebody chose: its name, or its path within the folder that was chosen. */
export interface GivenFile<F> {
  path: string;
  file: F;
}

export interface Sorted<F> {
  /** Markdown, by the paths that its pages will have. */
  pages: GivenFile<F>[];
  /** Claims as JSON lines. */
  claims: GivenFile<F>[];
  /** How many are neither, or hidden. */
  left: number;
}

/** Which of the files can be read in. Of a folder that was chosen the paths begin within it. */
export function sorted<F>(files: readonly GivenFile<F>[]): Sorted<F> {
  const result: Sorted<F> = { pages: [], claims: [], left: 0 };
  for (const { path: given, file } of files) {
    const path = given.normalize('NFC').replace(/^\/+/, '');
    const hidden = path.split('/').some((name) => name.startsWith('.'));
    if (!hidden && /\.(md|markdown)$/i.test(path)) result.pages.push({ path: path.replace(/\.(md|markdown)$/i, '.md'), file });
    else if (!hidden && /\.(jsonl|ndjson)$/i.test(path)) result.claims.push({ path, file });
    else result.left++;
  }
  result.pages.sort((a, b) => (a.path < b.path ? -1 : 1));
  return result;
}

/** The path of a file within the folder that was chosen; its name where none was. */
export const pathWithin = ({ name, webkitRelativePath }: { name: string; webkitRelativePath: string }): string =>
  webkitRelativePath.split('/').slice(1).join('/') || name;

/** What a file says; null where it is no text in UTF-8, of which a page would be a ruin. */
export async function textOf(file: Blob): Promise<string | null> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** A page as `wiki.savePage` takes it. */
export function pageOf(text: string): { content: string; frontMatter: string | undefined } {
  const { yaml, body } = splitHead(text);
  return { content: body, frontMatter: yaml };
}

interface Content {
  content: string;
  frontMatter?: string | undefined;
}

/** Whether a file says what its page says already. Perch's own dates, and a title that the file leaves out, make no difference. */
export function says(page: Content, file: Content): boolean {
  if (page.content.trimEnd() !== withoutOwn(file.content).trimEnd()) return false;
  return file.frontMatter === undefined || undated(file.frontMatter) === undated(page.frontMatter ?? '');
}

const undated = (yaml: string): string =>
  yaml
    .split(/\r?\n/)
    .filter((line) => !/^(created|updated|title):/.test(line))
    .join('\n')
    .trim();

/** The lines that Perch writes at the end of a page for its claims are no text of the page. */
const withoutOwn = (content: string): string =>
  content.replace(/\n<!-- perch:claims:begin[^\n]*-->\r?\n[^]*<!-- perch:claims:end -->\s*$/, '');
