import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { mergeLines } from './merge-lines.ts';

const text = (...lines: unknown[]): string => lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
const at = (minute: number, said = ''): unknown => ({ said, at: new Date(minute * 60_000).toISOString() });

verifies('vault.files/lines', 'lines of both in the order of their times, each once; those that cannot be read stay behind theirs', () => {
  const base = text(at(1), at(2));
  const ours = base + text(at(3, 'ours'), 'no JSON', at(6, 'ours'));
  const theirs = base + text(at(4, 'theirs'), at(5, 'theirs'));
  const merged = base + text(at(3, 'ours'), 'no JSON', at(4, 'theirs'), at(5, 'theirs'), at(6, 'ours'));
  expect(mergeLines(ours, theirs)).toBe(merged);
  expect(mergeLines(theirs, ours)).toBe(merged);
  expect(mergeLines(merged, ours)).toBe(merged);
  expect(mergeLines(`\uFEFF${base.replaceAll('\n', '\r\n')}`, base.trimEnd())).toBe(base);
  // The clock was set back: common lines still keep their predecessors.
  expect(mergeLines(text(at(9), at(2)), text(at(2), at(5)))).toBe(text(at(9), at(2), at(5)));
});

verifies('vault.files/lines', 'signals, promotions and what was counted have times of their own; a run is there once, as it ended', () => {
  const signal = (count: number): unknown => ({ content: 'x', created_at: 1, recalls: [{ at: count }] });
  const taken = (until: number): unknown => ({ taken: { until, messages: [] } });
  expect(mergeLines(text(signal(2), taken(3)), text(signal(1), taken(4)))).toBe(text(signal(1), signal(2), taken(3), taken(4)));
  expect(mergeLines(text({ state: 'promoted', at: 2 }), text({ state: 'proposed', at: 1 }))).toBe(
    text({ state: 'proposed', at: 1 }, { state: 'promoted', at: 2 }),
  );
  const run = (id: string, finishedAt: number | null): unknown => ({
    id,
    state: finishedAt ? 'completed' : 'running',
    startedAt: 1,
    finishedAt,
  });
  const [under, ended] = [text(run('r', null), run('s', null)), text(run('r', 5))];
  expect(mergeLines(under, ended)).toBe(text(run('s', null), run('r', 5)));
  expect(mergeLines(ended, under)).toBe(text(run('s', null), run('r', 5)));
});

const line = fc.oneof(
  fc.tuple(fc.nat(6), fc.constantFrom('a', 'b', 'c')).map(([minute, said]) => JSON.stringify(at(minute, said))),
  fc.constantFrom('no JSON', '[]', '{"at":null}', '{"at":"soon"}', '7', '"x"', '{"recalls":3,"at":5}'),
);
const file = fc.array(line, { maxLength: 10 }).map((lines) => lines.map((each) => `${each}\n`).join(''));
const linesOf = (given: string): string[] => given.split('\n').filter((each) => each !== '');

verifies(
  'vault.files/either-way',
  'lines: the same whichever is given first, with all of both, and nothing more when it is done again',
  () => {
    fc.assert(
      fc.property(file, file, (one, other) => {
        const merged = mergeLines(one, other);
        expect(mergeLines(other, one)).toBe(merged);
        expect(new Set(linesOf(merged))).toEqual(new Set([...linesOf(one), ...linesOf(other)]));
        expect(linesOf(merged)).toHaveLength(new Set(linesOf(merged)).size);
        for (const each of [one, other]) expect(mergeLines(each, merged)).toBe(merged);
      }),
      { numRuns: 3_000 },
    );
  },
);
