import katex from 'katex';
import 'katex/dist/katex.min.css';
import type { Formula } from './formula.ts';

/** Options of KaTeX: no links, no pictures, and limited sizes (https://katex.org/docs/options, https://katex.org/docs/security). */
const KATEX_OPTIONS = { throwOnError: true, trust: false, strict: 'ignore', maxSize: 20, maxExpand: 200, output: 'htmlAndMathml' } as const;

/** Macro definitions, which are rejected: KaTeX limits the number of expansions, but not their size, so a few lines could run for minutes. */
const MACRO_DEFINITION =
  /\\(?:[gex]?def|global|long|(?:future)?let|(?:re|provide)?newcommand|providecommand|newenvironment|renewenvironment)(?![a-zA-Z])/;

/** Maximum nesting of elements, about seven for each fraction, root or power; the layout of thousands would crash the tab. */
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
