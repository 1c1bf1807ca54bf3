import type { CitableSource } from '#shared/rpc/passage.ts';
import { addMarkdown } from '../../documents/passages/markdown-blocks.ts';
import { PassageBuilder } from '../../documents/passages/passage-builder.ts';

/** A page's text in Markdown, or the part of it that begins at `offset`. */
interface PageText {
  url: string;
  title: string;
  text: string;
  offset: number;
}

/**
 * Records the passages of a page for citations. Returns its text with the number of each passage before it, such as `[3]`, by which the
 * model cites it.
 */
export function numberPassages({ url, title, text, offset }: PageText, cite: (sources: readonly CitableSource[]) => number[]): string {
  const builder = new PassageBuilder();
  addMarkdown(builder, text);
  const { text: withoutStart, passages } = builder.finish();
  // Empty lines at the start belong to no passage.
  const shift = offset + Math.max(0, text.indexOf(withoutStart));
  const numbers = cite(
    passages.map(({ text: passage, locator }): CitableSource => ({
      id: `${url}#${shift + locator.start}`,
      kind: 'web',
      title,
      url,
      text: passage,
      locator: { ...locator, start: shift + locator.start, end: shift + locator.end },
    })),
  );
  return passages
    .map(({ text: passage }, index) => `[${numbers[index]}]${/^[\p{L}\p{N}]/u.test(passage) ? ' ' : '\n'}${passage}`)
    .join('\n\n');
}
