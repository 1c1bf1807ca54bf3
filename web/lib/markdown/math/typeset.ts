import katex from 'katex';
import 'katex/dist/katex.min.css';
import type { Formula } from './formula.ts';

/** How KaTeX is let work: no links, no pictures, no sizes that leave the page (its documentation, "Options" and "Security"). */
const KATEX_OPTIONS = { throwOnError: true, trust: false, strict: 'ignore', maxSize: 20, maxExpand: 200, output: 'htmlAndMathml' } as const;

/** KaTeX counts how often macros are used, not what comes of them: a few lines would keep it busy for minutes. Formulas in answers need none. */
const MACRO_DEFINITION =
  /\\(?:[gex]?def|global|long|(?:future)?let|(?:re|provide)?newcommand|providecommand|newenvironment|renewenvironment)(?![a-zA-Z])/;

/** Elements within each other, some seven for each fraction, root or power: with some thousand, laying them out ends the whole tab. */
const MAX_NESTING = 250;

function isTooDeep(element: Element): boolean {
  let level = [element];
  for (let at = 0; level.length > 0; at++) {
    if (at > MAX_NESTING) return true;
    level = level.flatMap(({ children }) => [...children]);
  }
  return false;
}

/** Renders a formula as elements; null if KaTeX cannot render it, it defines macros, or it is nested too deeply. */
export function typeset({ tex, display }: Formula): HTMLElement | null {
  if (MACRO_DEFINITION.test(tex)) return null;
  const element = document.createElement('span');
  try {
    katex.render(tex, element, { ...KATEX_OPTIONS, displayMode: display });
  } catch (error) {
    if (error instanceof katex.ParseError || error instanceof RangeError) return null;
    throw error;
  }
  return isTooDeep(element) ? null : element;
}
