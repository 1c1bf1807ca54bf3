import { citesOutside, opensWithPronoun, parseComments } from '../language/comments.ts';
import { findCommonFileNames, isParticiple, isPossessive, parseExports } from '../language/names.ts';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPhrases, findUnused } from '../language/check-language.ts';
import { RULES, type TextKind } from '../language/rules.ts';
import { findMessages, findProse, findStrings, parseProse, parseStrings } from '../language/texts.ts';

const root = join(import.meta.dirname, '../..');
const findPhraseTexts = (text: string, kind: TextKind): string[] =>
  findPhrases([{ kind, file: 'x', line: 1, text }], RULES, []).map(({ phrase }) => phrase);

describe('the language check', () => {
  it.each([
    ['Choose what is to answer, or add a tool server.', 'message', 'tool server'],
    ['That which was kept', 'message', 'That which'],
    ['Servers are found by themselves.', 'message', 'by themselves'],
    ['There is none yet.', 'message', 'There is none yet'],
    ['"x" is no JSON', 'string', 'is no JSON'],
    ['how it stands with each server', 'string', 'how it stands'],
    ['The server is started anew where nobody waits.', 'doc', 'where nobody'],
    ['end the service and take it away; what is kept stays; the rest goes', 'string', 'take it away'],
  ] as const)('finds the phrase in "%s"', (text, kind, phrase) => {
    expect(findPhraseTexts(text, kind)).toContain(phrase);
  });

  it.each([
    ['No backups yet', 'message'],
    ['Choose a model. Changes are saved automatically.', 'message'],
    ['Show the line where the server listens', 'string'],
    ['There is no file to copy.', 'doc'],
  ] as const)('accepts "%s"', (text, kind) => {
    expect(findPhraseTexts(text, kind)).toEqual([]);
  });

  it('honours an exception, and reports one that no text needs', () => {
    const text = { kind: 'string', file: 'x', line: 1, text: 'is kept by itself here' } as const;
    const exceptions = [
      { text: 'by itself here', reason: 'a test' },
      { text: 'gone', reason: 'a test' },
    ];
    expect(findPhrases([text], RULES, exceptions)).toEqual([]);
    expect(findUnused([text], RULES, exceptions).map((each) => each.text)).toEqual(['gone']);
  });

  it('reads prose of documents and literals of code, and neither code nor comments', () => {
    const page =
      '# One\n\nText of\na paragraph with `code by itself`.\n\n```sh\nby itself\n```\n\n<!-- keywords: by itself -->\n\n- item\n';
    expect(parseProse('p.md', page).map(({ line, text }) => [line, text])).toEqual([
      [1, '# One'],
      [3, 'Text of a paragraph with `…`.'],
      [12, '- item'],
    ]);
    const source =
      "// by itself it does this\nimport x from 'some long path here';\nconst a = 'too short';\nthrow new Error(`The file ${name} does not exist`);\n";
    expect(parseStrings('x.ts', source)).toEqual([{ kind: 'string', file: 'x.ts', line: 4, text: 'The file {…} does not exist' }]);
  });

  it('finds texts of each kind in this repository', () => {
    expect(findMessages(root).length).toBeGreaterThan(2_000);
    expect(findStrings(root).length).toBeGreaterThan(2_000);
    expect(findProse(root).some(({ file }) => file === 'README.md')).toBe(true);
  });
});

it('comments: lines in a row are one, marks and directives are left out', () => {
  const source = [
    '// What is here',
    '// and goes on.',
    'const a = 1; // One.',
    '/** It is a type. */',
    'type A = string;',
    "const text = '// no comment';",
    '// eslint-disable-next-line no-console',
  ].join('\n');
  const comments = parseComments('a.ts', source);
  expect(comments.map(({ line, text }) => [line, text])).toEqual([
    [1, 'What is here and goes on.'],
    [3, 'One.'],
    [4, 'It is a type.'],
  ]);
  expect(comments.map(opensWithPronoun)).toEqual([true, false, true]);
  const component =
    '<script lang="ts">\n  // Counts.\n  let a = 0;\n</script>\n\n<!-- Those that are shown (design.md, "Rows"). -->\n<style>\n  /* Wide. */\n</style>';
  const found = parseComments('A.svelte', component);
  expect(found.map(({ line, text }) => [line, text])).toEqual([
    [2, 'Counts.'],
    [6, 'Those that are shown (design.md, "Rows").'],
    [8, 'Wide.'],
  ]);
  expect(found.map(citesOutside)).toEqual([false, true, false]);
});

it('names: exports in the place of a verb or a noun, and files that are called alike', () => {
  const source =
    'export const stateOf = 1;\nexport function proof() {}\nexport type Told = 1;\nexport interface Shared {}\nexport class Feed {}\ntype Kept = 1;';
  const names = parseExports('a.ts', source);
  expect(names.filter(isPossessive).map(({ name }) => name)).toEqual(['stateOf']);
  expect(names.filter(isParticiple).map(({ name, line }) => [name, line])).toEqual([
    ['Told', 3],
    ['Shared', 4],
  ]);
  const folders = ['a', 'b', 'c', 'd'];
  expect(findCommonFileNames(folders.flatMap((folder) => [`${folder}/keep.ts`, `${folder}/index.ts`]))).toEqual([['keep.ts', folders]]);
});
