import { chosenSection, specifiedSection } from './requirement.ts';

/** Drawings: the list of shapes, and the library on it. */
export const canvas = [
  specifiedSection('interface document 2, sections 2.5 and 4.3', {
    'canvas.list/shapes': 'Every shape of the library and of the studio is data, with the documented defaults of a `PaintStyle`.',
    'canvas.classes/drawable':
      '`DrawableCanvas` has every method of the document, and `capturePng` gives a PNG of width × height × scale, which is that of the screen.',
    'canvas.classes/names': '`docs/names.md` maps every name of the drawing library to ours, and all of them are there.',
    'canvas.classes/package': '`perch/ui` is in the package, whole and typed: through a bundler, in a page without one, in a worker.',
    'canvas.classes/crisp': 'Without `antiAlias` edges are whole pixels.',
    'canvas.classes/image': '`ImageCanvas` draws over a picture that can be changed; one that cannot be read is an error that says so.',
    'canvas.classes/freehand': '`FreehandCanvas` is drawn on by hand, in the colour and width that `setStroke` sets.',
    'canvas.classes/annotation':
      '`AnnotationCanvas` has the tools of the document, and a bar of them; the screen shows the pixels that are exported.',
    'canvas.classes/panel': '`CanvasPanel` and `SimpleCanvasPanel` hold a canvas and its tools, and follow their properties.',
  }),
  chosenSection('decision 0052', {
    'canvas.classes/pressure': 'A pen’s line is as wide as it was pressed.',
    'canvas.classes/touch': 'Fingers draw, and a hand that lies on the screen beside a pen does not.',
    'canvas.classes/select': 'What was drawn is moved and resized by handles.',
    'canvas.classes/keyboard': 'Everything can be done by keys alone, with names and words for those who do not see it.',
    'canvas.export/redaction':
      'A redaction is solid, and what it hides is not in what is exported: neither in pixels nor in a file’s bytes.',
    'canvas.export/blur': 'A blur and a cut-off picture are pixels in an SVG too.',
    'canvas.export/worker': 'The same list gives the same PNG in a page and in a worker, and an SVG that looks like it.',
    'canvas.list/undo': 'Everything can be undone and done again; what another did meanwhile stays.',
    'canvas.list/merge': 'All who have had the same changes, in any order and however often, show the same drawing.',
    'canvas.list/order': 'Shapes lie in a pile, and move in it to the front, to the back, and by one.',
    'canvas.list/geometry': 'What a shape spans and paints is known without a browser, and so is which one lies at a point.',
    'canvas.file/round-trip': 'A drawing is versioned JSON, and the same after it was written and read.',
    'canvas.file/hostile':
      'A file that is no drawing, is too large, or has something in it that does not belong there is refused with where and why.',
  }),
  specifiedSection('ux.md, "Canvas" and "Keys"', {
    'canvas.studio/tools': 'Every tool has its key, and draws by mouse; Shift constrains, Escape gives up.',
    'canvas.studio/select': 'What was drawn is chosen, several at once too, moved, resized and turned, and snaps to what is near.',
    'canvas.studio/arrange':
      'What is chosen is aligned, spaced, flipped, turned, piled, duplicated, locked and hidden; so is the sheet, turned and cropped.',
    'canvas.studio/undo': 'Every action of the studio is one step, and undone and done again as a list of snapshots has it.',
    'canvas.studio/clipboard': 'Shapes go through the clipboard as text, from tab to tab; other text is refused.',
    'canvas.studio/text': 'Text is written in its place, with an input method and from right to left; what is left empty goes.',
    'canvas.studio/touch': 'Two fingers zoom and pan, one draws; the wheel and keys zoom and pan too.',
    'canvas.studio/keyboard': 'Keys alone can do everything, and what changes is said.',
    'canvas.studio/redaction': 'What is redacted in the studio is not in what is exported.',
    'canvas.studio/draft': 'A stroke is told to others while it is drawn, and theirs are shown.',
  }),
];
