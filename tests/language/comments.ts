import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** A comment of the code: consecutive `//` lines are one. */
export interface Comment {
  file: string;
  /** From 1. */
  line: number;
  /** Without its marks, on one line. */
  text: string;
}

const CODE = ['*.{ts,js}', '{bridge,shared,web,tests,docs}/**/*.{ts,js,mjs,svelte}'];
/** Directives for tools, and lines of banners. */
const DIRECTIVE = /^(?:eslint-|@ts-|prettier-|svelte-|#|\/ <reference|@vite|v8 |c8 |istanbul|[-─=*]+$)/;

/** All comments of the repository's code. */
export function findComments(root: string): Comment[] {
  return globSync(CODE, { cwd: root, exclude: (path) => /(?:^|\/)(?:node_modules|dist|\.cache)$/.test(path) }).flatMap((file) =>
    parseComments(file, readFileSync(join(root, file), 'utf8')),
  );
}

export function parseComments(file: string, source: string): Comment[] {
  if (!file.endsWith('.svelte')) return parseScript(file, source, 0);
  const lineBefore = (at: number): number => source.slice(0, at).split('\n').length - 1;
  const scripts = [...source.matchAll(/(<script[^>]*>)([^]*?)<\/script>/g)].flatMap(({ index, 1: tag = '', 2: script = '' }) =>
    parseScript(file, script, lineBefore(index + tag.length)),
  );
  const rest = source.replace(/<script[^>]*>[^]*?<\/script>/g, (script) => script.replace(/[^\n]/g, ' '));
  const marks = [...rest.matchAll(/<!--([^]*?)-->|\/\*([^]*?)\*\//g)].flatMap(({ index, 1: html, 2: css }) =>
    toComment(file, lineBefore(index) + 1, html ?? css ?? ''),
  );
  return [...scripts, ...marks];
}

/** Of a script or module; `lineOffset` is the number of lines before it in its file. */
function parseScript(file: string, source: string, lineOffset: number): Comment[] {
  const tree = ts.createSourceFile(
    file,
    source,
    ts.ScriptTarget.Latest,
    true,
    file.endsWith('.ts') || file.endsWith('.svelte') ? ts.ScriptKind.TS : ts.ScriptKind.JS,
  );
  const found = new Map<number, { end: number; text: string; isBlock: boolean }>();
  const add = (ranges: readonly ts.CommentRange[] | undefined): void => {
    for (const { pos, end, kind } of ranges ?? [])
      found.set(pos, { end, text: source.slice(pos, end), isBlock: kind === ts.SyntaxKind.MultiLineCommentTrivia });
  };
  const visit = (node: ts.Node): void => {
    add(ts.getLeadingCommentRanges(source, node.getFullStart()));
    add(ts.getTrailingCommentRanges(source, node.getEnd()));
    for (const child of node.getChildren(tree)) visit(child);
  };
  visit(tree);
  const rows: { line: number; lastLine: number; text: string; isBlock: boolean }[] = [];
  for (const [pos, { end, text, isBlock }] of [...found].sort(([a], [b]) => a - b)) {
    const line = tree.getLineAndCharacterOfPosition(pos).line + 1 + lineOffset;
    const lastLine = tree.getLineAndCharacterOfPosition(end).line + 1 + lineOffset;
    const before = rows.at(-1);
    const isAlone = /(?:^|\n)[ \t]*$/.test(source.slice(0, pos));
    if (before && isAlone && !isBlock && !before.isBlock && before.lastLine === line - 1) {
      before.text += `\n${text}`;
      before.lastLine = lastLine;
    } else rows.push({ line, lastLine, text, isBlock });
  }
  return rows.flatMap(({ line, text }) => toComment(file, line, text));
}

function toComment(file: string, line: number, source: string): Comment[] {
  const text = source
    .replace(/^\/\*+|\*+\/$/g, '')
    .replace(/^\s*(?:\/\/|\*)/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
  return text === '' || DIRECTIVE.test(text) ? [] : [{ file, line, text }];
}

const PRONOUN =
  /^(?:What|Whatever|Who|Whoever|Whom|Whose|Which|Where|Wherever|Those|That|It|They|One (?:that|who|whose|which|of)|Ones|The one)\b(?![’'])/;

/** Whether a comment opens with a pronoun clause ("What is …", "Those whose …", "It is …") instead of a noun or a verb. */
export function opensWithPronoun({ text }: Comment): boolean {
  return PRONOUN.test(text);
}

const CITATIONS =
  /\b(?:design|quality|style|ux|facts|language)\.md\b|\binterface documents?\b|\((?:chosen in the )?decisions?, "|\bdecisions, "|\bspec\/[1-3]-/;

/** Whether a comment cites a document that is not in the repository. */
export const citesOutside = ({ text }: Comment): boolean => CITATIONS.test(text);
