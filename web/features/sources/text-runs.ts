/** A part of a document's text that looks the same throughout. */
interface TextRun {
  text: string;
  isMarked: boolean;
  isHeading: boolean;
}

const HEADING = /^(#{1,6}[ \t]+)(.*)$/gm;

/** Splits the text of a document at the ends of a highlight and of headings. The signs before a Markdown heading are left out. */
export function toTextRuns(text: string, highlight: { start: number; end: number } | null, isMarkdown: boolean): TextRun[] {
  const headings = isMarkdown
    ? [...text.matchAll(HEADING)].map(({ index, 0: line, 1: sign = '' }) => ({
        from: index,
        start: index + sign.length,
        end: index + line.length,
      }))
    : [];
  const isMarkedAt = (at: number): boolean => highlight !== null && at >= highlight.start && at < highlight.end;
  const bounds = [
    0,
    text.length,
    ...(highlight ? [highlight.start, highlight.end] : []),
    ...headings.flatMap((each) => Object.values(each)),
  ];
  const ends = [...new Set(bounds)].sort((a, b) => a - b);
  const runs: TextRun[] = [];
  let next = 0;
  for (const [index, start] of ends.entries()) {
    const end = ends[index + 1];
    if (end === undefined) break;
    while (headings[next] !== undefined && start >= (headings[next]?.end ?? 0)) next++;
    const heading = headings[next];
    const isInHeading = heading !== undefined && start >= heading.from;
    if (isInHeading && start < heading.start) continue;
    runs.push({ text: text.slice(start, end), isMarked: isMarkedAt(start), isHeading: isInHeading });
  }
  return runs;
}
