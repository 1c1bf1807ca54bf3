import fc from 'fast-check';
import { expect } from 'vitest';
import { stripVTControlCharacters } from 'node:util';
import { verifies } from '../../tests/requirements.ts';
import { cut, shown, table, widthOf } from './output.ts';

const terminal = { isTTY: true } as NodeJS.WriteStream;
const pipe = { isTTY: false } as NodeJS.WriteStream;

verifies('cli/colour', 'a table fits into the terminal, whatever is in it, and each column begins at the same place', () => {
  const columns = [
    { title: 'key', isFlexible: true },
    { title: 'n', align: 'right' as const },
    { title: 'title', isFlexible: true },
  ];
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.nat().map(String), fc.string({ unit: 'grapheme', maxLength: 90 })),
      ),
      fc.integer({ min: 1, max: 120 }),
      (rows, width) => {
        const lines = table(columns, rows, width).map(stripVTControlCharacters);
        expect(lines).toHaveLength(rows.length + 1);
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
      },
    ),
  );
  expect(
    table(
      columns,
      [
        ['a', '1', '日本'],
        ['bb', '22', 'x'.repeat(40)],
      ],
      20,
    ).map(stripVTControlCharacters),
  ).toEqual(['key   n  title', 'a     1  日本', `bb   22  ${'x'.repeat(10)}…`]);
});

verifies('cli/colour', 'wide characters count twice, and a cut is told by …', () => {
  expect([widthOf('abc'), widthOf('日本'), widthOf('👍🏽'), widthOf('é')]).toEqual([3, 4, 2, 1]);
  expect([cut('abcdef', 4), cut('日本語', 4), cut('abc', 3), cut('abc', 0)]).toEqual(['abc…', '日…', 'abc', '']);
});

verifies('cli/colour', 'text of others cannot steer a terminal; a pipe gets it as it is', () => {
  const hostile = 'a\u001b[2Jb\u001b]52;c;cGF5bG9hZA==\u0007\u202ec\td\ne';
  expect(shown(hostile, terminal)).toBe('a\\u{1b}[2Jb\\u{1b}]52;c;cGF5bG9hZA==\\u{7}\\u{202e}c\td\ne');
  expect(shown(hostile, pipe)).toBe(hostile);
});
