import katex from 'katex';
import 'katex/dist/katex.min.css';
import type { Formula } from './formula.ts';

/** How KaTeX is let work: no links, no pictures, no sizes that leave the page (its documentation, "Options" and "Security"). */
const OPTIONS = { throwOnError: true, trust: false, strict: 'ignore', maxSize: 20, maxExpand: 200, output: 'htmlAndMathml' } as const;

/** KaTeX counts how often macros are used, not what comes of them: a few lines would keep it busy for minutes. Formulas in answers need none. */
const DEFINES =
  /\\(?:[gex]?def|global|long|(?:future)?let|(?:re|provide)?newcommand|providecommand|newenvironment|renewenvironment)(?![a-zA-Z])/;

/** A formula as elements; null where it is none that KaTeX can set, or defines macros. */
export function typeset({ tex, display }: Formula): HTMLElement | null {
  if (DEFINES.test(tex)) return null;
  const element = document.createElement('span');
  try {
    katex.render(tex, element, { ...OPTIONS, displayMode: display });
  } catch (error) {
    if (error instanceof katex.ParseError || error instanceof RangeError) return null;
    throw error;
  }
  return element;
}
