import type { Shape } from '#shared/canvas/shape-fields.ts';
import { m } from '#app/i18n/messages.ts';

/** Markers in the order of their numbers, then those without a number. */
export function getMarkers(shapes: readonly Shape[]): Shape<'marker'>[] {
  const getNumber = ({ label }: Shape<'marker'>): number => (/^\d+$/.test(label) ? Number(label) : Infinity);
  return shapes
    .filter((shape) => shape.kind === 'marker')
    .sort((a, b) => {
      const [x, y] = [getNumber(a), getNumber(b)];
      return x === y ? 0 : x - y;
    });
}

/** The notes of visible markers as text for a picture; empty if there are none. */
export function formatNotes(title: string, shapes: readonly Shape[]): string {
  const lines = getMarkers(shapes)
    .filter(({ hidden, note }) => !hidden && note.trim() !== '')
    .map(({ label, note }) => `${label || '•'}. ${note.trim().replace(/\n+/g, '\n   ')}`);
  return lines.length === 0 ? '' : [m.annotate_notes_beside({ title }), ...lines].join('\n');
}
