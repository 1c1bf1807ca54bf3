import type { Token, TokenizerAndRendererExtension } from 'marked';

/** A formula as TeX, and whether it is displayed as a block. */
export interface Formula {
  tex: string;
  display: boolean;
}

/** Delimiters with which models write formulas. Each pattern stops at the next delimiter of its kind, so that none becomes slow. */
const FORMULA_PATTERNS = {
  dollars: /^\$\$((?:\\[^]|[^\\$]|\$(?!\$))+?)\$\$/,
  // As in Pandoc ("Extension: tex_math_dollars"), so that prices are not formulas.
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

/** The rest of a paragraph, which keeps an unfinished formula from being parsed as Markdown. */
const PARAGRAPH = /^(?:[^\n]|\n(?![ \t]*(?:\n|$)))+\n?/;

/** Maximum lookahead for the next formula: searching to the end of a long text at each line and sign would take quadratic time. */
const MAX_LOOKAHEAD_CHARS = 10_000;

/** Extensions of marked that render formulas as `<span class="math">` with their source. */
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
      const lineEnd = /^[ \t]*(?:\n|$)/.exec(body.slice(formula.length))?.[0];
      return lineEnd === undefined ? undefined : { type: 'mathBlock', raw: indent + formula + lineEnd };
    },
    renderer: ({ raw }) => `<p>${toSpan(raw)}</p>\n`,
  },
  {
    name: 'math',
    level: 'inline',
    start: (source) => {
      const prefix = /^[^$\\<![`*_~]*(?=[$\\])/.exec(source.slice(0, MAX_LOOKAHEAD_CHARS))?.[0];
      return prefix?.length;
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
