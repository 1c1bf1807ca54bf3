import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPhrases, findUnused } from '../language/check.ts';
import { RULES, type TextKind } from '../language/rules.ts';
import { findMessages, findProse, findStrings, parseProse, parseStrings } from '../language/texts.ts';

const root = join(import.meta.dirname, '../..');
const phrasesIn = (text: string, kind: TextKind): string[] =>
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
    expect(phrasesIn(text, kind)).toContain(phrase);
  });

  it.each([
    ['No backups yet', 'message'],
    ['Choose a model. Changes are saved automatically.', 'message'],
    ['Show the line where the server listens', 'string'],
    ['There is no file to copy.', 'doc'],
  ] as const)('accepts "%s"', (text, kind) => {
    expect(phrasesIn(text, kind)).toEqual([]);
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
