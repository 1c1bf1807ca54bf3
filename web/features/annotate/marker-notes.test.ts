import { expect, test } from 'vitest';
import { createSampleShape } from '#shared/canvas/shape-samples.ts';
import { getMarkers, formatNotes } from './marker-notes.ts';

const marker = (label: string, note: string, hidden = false) => ({
  ...createSampleShape('marker', { label, note, hidden }),
  id: `m${label}${note}`,
});

test('notes are listed by their numbers, whatever the order of drawing, without hidden and empty ones', () => {
  const shapes = [
    marker('10', 'ten'),
    marker('2', 'two\n\nlines'),
    createSampleShape('rect'),
    marker('3', '  '),
    marker('1', 'gone', true),
  ];
  expect(getMarkers(shapes).map(({ label }) => label)).toEqual(['1', '2', '3', '10']);
  expect(formatNotes('Login', shapes)).toBe('Notes for the picture “Login” (the numbers are marked in it):\n2. two\n   lines\n10. ten');
  expect(formatNotes('Login', [createSampleShape('rect'), marker('1', '')])).toBe('');
});
