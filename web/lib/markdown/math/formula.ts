import type { Token, TokenizerAndRendererExtension } from 'marked';

/** A formula as TeX, and whether it is displayed as a block. */
export interface Formula {
  tex: string;
  display: boolean;
}

/** Forms in which models write formulas. None looks further than to the next sign of its kind, so that no text makes them slow. */
const FORMULA_PATTERNS = {
  dollars: /^\$\$((?:\\[^]|[^\\$]|\$(?!\$))+?)\$\$/,
  // As Pandoc reads it ("Extension: tex_math_dollars"): prices are no formulas.
  dollar: /^\$(?![\s$])((?:\\[^]|[^\\$])+?)(?<!\s)\$(?![\d$])/,
  brackets: /^\\\[((?:\\[^[\]]|[^\\])+?)\\\]/,
  parentheses: /^\\\(((?:\\[^()]|[^\\])+?)\\\)/,
};

/** Parses `raw` as one formula with its delimiters; null if it is not one. */
export function parseFormula(raw: string): Formula | null {
  const text = raw.trim();
  for (const form of [FORMULA_PATTERNS.dollars, FORMULA_PATTERNS.brackets, FORMULA_PATTERNS.dollar, FORMULA_PATTERNS.parentheses]) {
    const [match, tex = ''] = form.exec(text) ?? [];
    if (match === text) return { tex: tex.trim(), display: form === FORMULA_PATTERNS.dollars || form === FORMULA_PATTERNS.brackets };
  }
  return null;
}

const escapeHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Up to the end of its paragraph: keeps an unfinished formula from being parsed as Markdown. */
const PARAGRAPH = /^(?:[^\n]|\n(?![ \t]*(?:\n|$)))+\n?/;

/** So far a text is looked through for the next formula. It is asked at each line, and at each sign in it: looking to the end of a long text would take the square of its length. */
const MAX_LOOKAHEAD_CHARS = 10_000;

/** For marked: formulas as `<span class="math">` with their source. */
export const mathExtensions: TokenizerAndRendererExtension[] = [
  {
    name: 'mathBlock',
    level: 'block',
    start: (source) => /\n {0,3}(?:\$\$|\\\[)/.exec(source.slice(0, MAX_LOOKAHEAD_CHARS))?.index,
    tokenizer(source) {
      if (!/^ {0,3}(?:\$\$|\\\[)/.test(source)) return;
      const paragraph = PARAGRAPH.exec(source)?.[0] ?? '';
      const indent = /^ */.exec(paragraph)?.[0] ?? '';
      const body = paragraph.slice(indent.length);
      const formula = FORMULA_PATTERNS.dollars.exec(body)?.[0] ?? FORMULA_PATTERNS.brackets.exec(body)?.[0];
      if (formula === undefined) return /^(?:\$\$|\\\[)[ \t]*\n/.test(body) ? { type: 'mathBlock', raw: paragraph } : undefined;
      const after = /^[ \t]*(?:\n|$)/.exec(body.slice(formula.length))?.[0];
      return after === undefined ? undefined : { type: 'mathBlock', raw: indent + formula + after };
    },
    renderer: ({ raw }) => `<p>${toSpan(raw)}</p>\n`,
  },
  {
    name: 'math',
    level: 'inline',
    start: (source) => {
      const before = /^[^$\\<![`*_~]*(?=[$\\])/.exec(source.slice(0, MAX_LOOKAHEAD_CHARS))?.[0];
      return before?.length;
    },
    tokenizer(source) {
      for (const form of Object.values(FORMULA_PATTERNS)) {
        const raw = form.exec(source)?.[0];
        if (raw !== undefined) return { type: 'math', raw };
      }
      return undefined;
    },
    renderer: ({ raw }: Token) => toSpan(raw),
  },
];

const toSpan = (raw: string): string => `<span class="math">${escapeHtml(raw.trim())}</span>`;
