import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { TextKind } from './rules.ts';

/** A text that people read, and where it is written. */
export interface ReadableText {
  kind: TextKind;
  file: string;
  /** From 1. */
  line: number;
  text: string;
}

type Message = string | [{ match: Record<string, string> }];

const CODE = ['bridge/**/*.{ts,js}', 'shared/**/*.ts', 'web/**/*.{ts,js,svelte}'];
/** Tests, messages (read as JSON), and the word lists of the memory's ranking. */
const NOT_READ = /\.test\.ts$|\.d\.ts$|search\/text\/(?:irregular|related-words)\.ts$/;
const DOCS = ['*.md', 'docs/**/*.md', 'deploy/**/*.md'];

const lineAt = (source: string, offset: number): number => source.slice(0, offset).split('\n').length;

/** The app's English messages. */
export function findMessages(root: string): ReadableText[] {
  return globSync('web/{app,features,kit}/**/messages/**/en.json', { cwd: root }).flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    return Object.entries(JSON.parse(source) as Record<string, Message>).flatMap(([key, message]) => {
      const texts = typeof message === 'string' ? [message] : message.flatMap(({ match }) => Object.values(match));
      const line = lineAt(source, Math.max(0, source.indexOf(`"${key}"`)));
      return key === '$schema' ? [] : texts.map((text): ReadableText => ({ kind: 'message', file, line, text }));
    });
  });
}

/** Prose of Markdown pages: one text for each paragraph, without code. */
export function findProse(root: string): ReadableText[] {
  return globSync(DOCS, { cwd: root }).flatMap((file) => parseProse(file, readFileSync(join(root, file), 'utf8')));
}

export function parseProse(file: string, source: string): ReadableText[] {
  const found: ReadableText[] = [];
  // Search words of the guide are what people ask, not what Perch says.
  source = source.replace(/<!--[^]*?-->/g, (comment) => comment.replace(/[^\n]/g, ''));
  let fence = '';
  let paragraph: ReadableText | undefined;
  source.split('\n').forEach((row, at) => {
    const mark = /^\s*(```+|~~~+)/.exec(row)?.[1];
    if (mark !== undefined && (fence === '' || mark.startsWith(fence))) fence = fence === '' ? mark : '';
    else if (fence === '' && row.trim() !== '') {
      const text = row
        .replace(/`[^`]*`/g, '`…`')
        .replace(/\]\([^)]*\)/g, ']')
        .trim();
      if (paragraph === undefined || /^(?:[-*#>|]|\d+\.)/.test(text)) found.push((paragraph = { kind: 'doc', file, line: at + 1, text }));
      else paragraph.text += ` ${text}`;
      return;
    }
    paragraph = undefined;
  });
  return found;
}

/** Literals in the product's code that read as a phrase: errors, help, descriptions. Comments are not read. */
export function findStrings(root: string): ReadableText[] {
  return globSync(CODE, { cwd: root })
    .filter((file) => !NOT_READ.test(file))
    .flatMap((file) => {
      const source = readFileSync(join(root, file), 'utf8');
      return file.endsWith('.svelte') ? parseScripts(file, source) : parseStrings(file, source);
    });
}

function parseScripts(file: string, source: string): ReadableText[] {
  return [...source.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].flatMap((match) =>
    parseStrings(file, match[1] ?? '', lineAt(source, match.index) - 1),
  );
}

export function parseStrings(file: string, source: string, lineOffset = 0): ReadableText[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, file.endsWith('.js') ? ts.ScriptKind.JS : ts.ScriptKind.TS);
  const found: ReadableText[] = [];
  const add = (node: ts.Node, text: string): void => {
    if (isPhrase(text)) found.push({ kind: 'string', file, line: lineOffset + lineAt(source, node.getStart()), text });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) add(node, node.text);
    else if (ts.isTemplateExpression(node))
      add(node, node.head.text + node.templateSpans.map(({ literal }) => `{…}${literal.text}`).join(''));
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** Whether a literal has at least three words in lower case, as prose has and codes, queries and class names have not. */
function isPhrase(text: string): boolean {
  return (text.match(/(?<![\w./:$#-])[a-z’']{2,}(?![\w/:=(-])/g) ?? []).length >= 3;
}
