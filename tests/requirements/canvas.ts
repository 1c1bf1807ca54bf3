import { chosen, specified } from './requirement.ts';

/** Drawings: the list of shapes, and the library on it. */
export const canvas = [
  specified('interface document 2, sections 2.5 and 4.3', {
    'canvas.list/shapes': 'Every shape of the library and of the studio is data, with the documented defaults of a `PaintStyle`.',
  }),
  chosen('decision 0052', {
    'canvas.list/undo': 'Everything can be undone and done again; what another did meanwhile stays.',
    'canvas.list/merge': 'All who have had the same changes, in any order and however often, show the same drawing.',
    'canvas.list/order': 'Shapes lie in a pile, and move in it to the front, to the back, and by one.',
    'canvas.list/geometry': 'What a shape spans and paints is known without a browser, and so is which one lies at a point.',
    'canvas.file/round-trip': 'A drawing is versioned JSON, and the same after it was written and read.',
    'canvas.file/hostile':
      'A file that is no drawing, is too large, or has something in it that does not belong there is refused with where and why.',
  }),
];
