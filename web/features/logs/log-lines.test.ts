import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { filterLogRows, findRowIndex, formatLogJson, formatLogText, toLogRow } from './log-lines.ts';

const line = (id: number, change: object = {}) =>
  toLogRow({ time: '2026-11-20T12:00:00.000Z', at: id, level: 'info', component: 'runs', message: `line ${id}`, ...change }, id);

verifies('logs.app/filter', 'by level, component and words, also those of the fields', () => {
  const lines = [
    line(1, { level: 'debug' }),
    line(2, { component: 'bridge', fields: { Port: 'Tall' } }),
    line(3, { level: 'warn', message: 'A Run failed' }),
    line(4, { level: 'error', component: 'bridge' }),
  ];
  const ids = (level: 'debug' | 'info' | 'warn', component = '', text = ''): number[] =>
    filterLogRows(lines, { level, component, text }).map(({ id }) => id);
  expect(ids('debug')).toEqual([1, 2, 3, 4]);
  expect(ids('warn')).toEqual([3, 4]);
  expect(ids('info', 'bridge')).toEqual([2, 4]);
  expect(ids('debug', '', ' failed  run')).toEqual([3]);
  expect(ids('debug', '', 'tall')).toEqual([2]);
  expect(ids('debug', '', '(')).toEqual([]);
});

verifies('logs.app/filter', 'a place is found again among the lines that fit', () => {
  const lines = [line(3), line(7), line(9)];
  expect([1, 3, 4, 7, 9, 10].map((id) => findRowIndex(lines, id))).toEqual([0, 0, 1, 1, 2, 3]);
});

verifies('logs.app/export', 'a message with breaks stays one line', () => {
  const odd = line(1, { level: 'warn', message: 'one\n2026 ERROR runs: forged\u2028two', fields: { a: '\n' } });
  expect(formatLogText(odd)).toBe('2026-11-20T12:00:00.000Z WARN  runs: one 2026 ERROR runs: forged two {"a":"\\n"}\n');
  expect(formatLogJson(odd).trimEnd()).not.toContain('\n');
  expect(JSON.parse(formatLogJson(odd))).toMatchObject({ level: 'warn', fields: { a: '\n' }, message: odd.message });
});
