import { splitFrontMatter } from '../../front-matter.ts';

interface PageContent {
  content: string;
  frontMatter?: string | undefined;
}

/** The text of a file as `wiki.savePage` takes it. */
export function toPageContent(text: string): PageContent {
  const { yaml, body } = splitFrontMatter(text);
  return { content: body, frontMatter: yaml };
}

/** Whether a page has the text of a file already. Perch's own dates, and a title that the file leaves out, make no difference. */
export function isSamePage(page: PageContent, file: PageContent): boolean {
  if (page.content.trimEnd() !== stripClaims(file.content).trimEnd()) return false;
  return file.frontMatter === undefined || stripDates(file.frontMatter) === stripDates(page.frontMatter ?? '');
}

const stripDates = (yaml: string): string =>
  yaml
    .split(/\r?\n/)
    .filter((line) => !/^(created|updated|title):/.test(line))
    .join('\n')
    .trim();

/** The lines that Perch writes at the end of a page for its claims are no text of the page. */
const stripClaims = (content: string): string =>
  content.replace(/\n<!-- perch:claims:begin[^\n]*-->\r?\n[^]*<!-- perch:claims:end -->\s*$/, '');

/** The address of a page that was clipped from the web, by its front matter; undefined if the person wrote it. */
export function findClippedUrl({ frontMatter = '' }: PageContent): string | undefined {
  return /^(?:source|url|source_url):[ \t]*["']?(https?:\/\/[^\s"']+)/im.exec(frontMatter)?.[1];
}
