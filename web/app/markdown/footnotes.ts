import type { Token, TokenizerAndRendererExtension, Tokens } from 'marked';

/** A footnote's definition: `[^label]: text`. */
interface FootnoteToken extends Tokens.Generic {
  type: 'footnote';
  label: string;
  text: string;
}

export const isFootnote = (token: Token): token is FootnoteToken => token.type === 'footnote';

const DEFINITION = /^ {0,3}\[\^([^\]\s]{1,200})\]:[ \t]*/;
/** A line that begins another block, and so does not continue a footnote's paragraph. */
const BLOCK_START = /^ {0,3}(?:[-*+#>|]|\d+[.)]|```|~~~|\$\$|\[\^)/;
const REFERENCE = /^\[\^([^\]\s]{1,200})\](?!\()/;

/** The footnote at the start of a text: its first paragraph, and the indented lines below it. */
function readDefinition(source: string): { raw: string; label: string; text: string } | undefined {
  const [head, label] = DEFINITION.exec(source) ?? [];
  if (head === undefined || label === undefined) return undefined;
  const lines: string[] = [];
  let [end, blank] = [0, false];
  for (let at = 0; at < source.length;) {
    const next = source.indexOf('\n', at) + 1 || source.length;
    const line = source.slice(at, next);
    const isIndented = /^(?: {2,}|\t)/.test(line);
    if (line.trim() === '') blank = true;
    else if (at === 0 || isIndented || !(blank || BLOCK_START.test(line))) {
      lines.push(at === 0 ? line.slice(head.length) : `${blank ? '\n' : ''}${line.replace(/^(?: {1,4}|\t)/, '')}`);
      [end, blank] = [next, false];
    } else break;
    at = next;
  }
  return { raw: source.slice(0, end), label: normalizeLabel(label), text: lines.join('').trim() };
}

/** Maximum lookahead for a footnote: searching to the end of a long text at each line would take quadratic time. */
const MAX_LOOKAHEAD_CHARS = 10_000;

/** Extensions of marked for footnotes and references to them, which are rendered as source unless overridden. */
export const footnoteExtensions: TokenizerAndRendererExtension[] = [
  {
    name: 'footnote',
    level: 'block',
    start: (source) => /\n {0,3}\[\^[^\]\s]{1,200}\]:/.exec(source.slice(0, MAX_LOOKAHEAD_CHARS))?.index,
    tokenizer(source) {
      const definition = readDefinition(source);
      return definition && { type: 'footnote', ...definition };
    },
    renderer: ({ raw }) => `<p>${escapeHtml(raw.trim())}</p>\n`,
  },
  {
    name: 'footnoteReference',
    level: 'inline',
    tokenizer(source) {
      const [raw, label] = REFERENCE.exec(source) ?? [];
      return raw === undefined || label === undefined ? undefined : { type: 'footnoteReference', raw, label: normalizeLabel(label) };
    },
    renderer: ({ raw }) => escapeHtml(raw),
  },
];

/** A footnote of a text. */
export interface Footnote {
  label: string;
  source: string;
}

/** Orders the footnotes of a text by their first references, those without one last. Of footnotes with the same label the first counts. */
export function numberFootnotes(tokens: readonly Token[]): Footnote[] {
  const defined = new Map<string, Footnote>();
  for (const token of tokens)
    if (isFootnote(token) && !defined.has(token.label)) defined.set(token.label, { label: token.label, source: token.text });
  if (defined.size === 0) return [];
  const numbered = new Set<Footnote>();
  const addReferenced = (text: string): void => {
    for (const label of getReferencedLabels(text)) {
      const note = defined.get(label);
      if (note) numbered.add(note);
    }
  };
  for (const token of tokens) if (!isFootnote(token) && token.type !== 'code') addReferenced(token.raw);
  // A set grows while it is read: a footnote may refer to another one.
  for (const { source } of numbered) addReferenced(source);
  return [...new Set([...numbered, ...defined.values()])];
}

const normalizeLabel = (label: string): string => label.toLowerCase();

/** Labels that a text refers to, in order, except in code. */
const getReferencedLabels = (text: string): string[] =>
  text.includes('[^')
    ? [...text.replace(/(`+)[^`]+\1/g, '').matchAll(/\[\^([^\]\s]{1,200})\](?!\()/g)].map(([, label = '']) => normalizeLabel(label))
    : [];

const escapeHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
