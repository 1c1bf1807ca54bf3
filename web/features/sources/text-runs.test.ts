import { describe, expect, it } from 'vitest';
import { toTextRuns } from './text-runs.ts';

const TEXT = 'Intro\n\n## Facts\n\nHerons nest in *May*.\n# of nests: 58\n';

describe('text of a source', () => {
  it('shows headings without their signs, and keeps the highlight', () => {
    const start = TEXT.indexOf('Facts');
    const end = TEXT.indexOf(' in *May*');
    expect(toTextRuns(TEXT, { start: start - 3, end }, true)).toEqual([
      { text: 'Intro\n\n', isMarked: false, isHeading: false },
      { text: 'Facts', isMarked: true, isHeading: true },
      { text: '\n\nHerons nest', isMarked: true, isHeading: false },
      { text: ' in *May*.\n', isMarked: false, isHeading: false },
      { text: 'of nests: 58', isMarked: false, isHeading: true },
      { text: '\n', isMarked: false, isHeading: false },
    ]);
  });

  it('leaves a text that is not Markdown as it is', () => {
    expect(toTextRuns('# comment\ncode', { start: 10, end: 14 }, false)).toEqual([
      { text: '# comment\n', isMarked: false, isHeading: false },
      { text: 'code', isMarked: true, isHeading: false },
    ]);
    expect(toTextRuns('', null, true)).toEqual([]);
  });
});
