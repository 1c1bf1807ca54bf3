import fc from 'fast-check';
import { expect } from 'vitest';
import { stripVTControlCharacters } from 'node:util';
import { verifies } from '../../tests/requirements.ts';
import { truncate, escapeControls, formatTable, toPrintableJson, computeWidth } from './terminal-output.ts';

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
        const lines = formatTable(columns, rows, width).map(stripVTControlCharacters);
        expect(lines).toHaveLength(rows.length + 1);
        for (const line of lines) expect(computeWidth(line)).toBeLessThanOrEqual(width);
      },
    ),
  );
  expect(
    formatTable(
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
  expect([computeWidth('abc'), computeWidth('日本'), computeWidth('👍🏽'), computeWidth('é')]).toEqual([3, 4, 2, 1]);
  expect([truncate('abcdef', 4), truncate('日本語', 4), truncate('abc', 3), truncate('abc', 0)]).toEqual(['abc…', '日…', 'abc', '']);
});

const HOSTILE = 'a\u001b[2Jb\u001b]52;c;cGF5bG9hZA==\u0007\u009b1m\u202ec\td\ne';

verifies('cli/escape', 'text of others cannot steer a terminal, also one behind a pipe', () => {
  expect(escapeControls(HOSTILE)).toBe('a\\u{1b}[2Jb\\u{1b}]52;c;cGF5bG9hZA==\\u{7}\\u{9b}1m\\u{202e}c\td\ne');
  expect(escapeControls('two\r\nlines\rover')).toBe('two\nlines\\u{d}over');
});

verifies('cli/escape', 'JSON is escaped without changing its value', () => {
  const value = { [HOSTILE]: [HOSTILE, '\u{e0041}\u2028é日👍🏽'] };
  const json = toPrintableJson(value);
  expect(json).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  expect(json).toContain('é日👍🏽');
  expect(JSON.parse(json)).toEqual(value);
  expect(JSON.parse(toPrintableJson(value, 2))).toEqual(value);
});
