import { Drawing } from '#shared/canvas/drawing.ts';
import { Editor } from '#shared/canvas/editor.ts';

/** A picture of the gallery. */
interface GalleryScene {
  readonly name: string;
  readonly says: string;
  readonly drawing: Drawing;
}

const SCENE_SIZE = { width: 200, height: 140, background: '#ffffff' };

function createScene(name: string, says: string, draw: (editor: Editor) => void): GalleryScene {
  const drawing = new Drawing({ ...SCENE_SIZE, origin: 'gallery', now: () => 0 });
  draw(new Editor(drawing));
  return { name, says, drawing };
}

/** Stripes, for what covers something or shines through. */
function addStripes(editor: Editor): void {
  for (let x = 10; x < 190; x += 20) editor.add('rect', { x, y: 10, width: 10, height: 120, color: x % 40 === 10 ? '#0b57d0' : '#d92d20' });
}

const PEN_TRACE = Array.from({ length: 33 }, (_, nth): [number, number, number] => [20 + nth * 5, 70 + 40 * Math.sin(nth / 5), nth / 32]);

/** Every kind of shape, and the ways in which they are painted. */
export const SCENES: readonly GalleryScene[] = [
  createScene('rect', 'Rectangles: filled, outlined, with round corners', (editor) => {
    editor.add('rect', { x: 15, y: 20, width: 50, height: 100, color: '#d92d20' });
    editor.add('rect', { x: 80, y: 20, width: 45, height: 100, color: '#0b57d0', fill: false, strokeWidth: 6 });
    editor.add('rect', { x: 140, y: 20, width: 45, height: 100, color: '#16a34a', radius: 16 });
  }),
  createScene('ellipse', 'Ellipses, filled and outlined', (editor) => {
    editor.add('ellipse', { cx: 55, cy: 70, rx: 40, ry: 55, color: '#d97706' });
    editor.add('ellipse', { cx: 145, cy: 70, rx: 40, ry: 40, color: '#7c3aed', fill: false, strokeWidth: 8 });
  }),
  createScene('line', 'Lines of several widths', (editor) => {
    for (const [nth, strokeWidth] of [1, 3, 6, 12].entries())
      editor.add('line', { x1: 20, y1: 25 + nth * 30, x2: 180, y2: 15 + nth * 30, strokeWidth, color: '#0b57d0' });
  }),
  createScene('arrow', 'Arrows', (editor) => {
    editor.add('arrow', { x1: 20, y1: 120, x2: 180, y2: 90, strokeWidth: 2, color: '#d92d20' });
    editor.add('arrow', { x1: 180, y1: 60, x2: 30, y2: 30, strokeWidth: 8, color: '#0b57d0' });
  }),
  createScene('polygon', 'A polygon and its outline', (editor) => {
    const points: [number, number][] = [
      [10, 120],
      [50, 15],
      [90, 120],
    ];
    editor.add('polygon', { points, color: '#16a34a' });
    editor.add('polygon', { points: points.map(([x, y]) => [x + 95, y]), color: '#16a34a', fill: false, strokeWidth: 5 });
  }),
  createScene('star', 'Stars', (editor) => {
    editor.add('star', { cx: 55, cy: 70, outer: 45, inner: 20, spikes: 5, color: '#d97706' });
    editor.add('star', { cx: 145, cy: 70, outer: 45, inner: 32, spikes: 12, color: '#7c3aed' });
  }),
  createScene('path', 'A path of lines and curves', (editor) => {
    editor.add('path', {
      elements: [
        { type: 'move', x: 20, y: 110 },
        { type: 'cubic', x1: 20, y1: 0, x2: 110, y2: 0, x: 100, y: 110 },
        { type: 'quadratic', x1: 140, y1: 10, x: 180, y: 60 },
        { type: 'line', x: 180, y: 125 },
        { type: 'close' },
      ],
      color: '#0b57d0',
      fill: false,
      strokeWidth: 5,
    });
  }),
  createScene('pen', 'A pen that is pressed harder and harder', (editor) => {
    editor.add('pen', { trace: PEN_TRACE, strokeWidth: 14, color: '#1b1b1f' });
  }),
  createScene('highlighter', 'A highlighter darkens what lies under it', (editor) => {
    addStripes(editor);
    const points: [number, number][] = [
      [20, 70],
      [180, 60],
    ];
    editor.add('highlighter', { points, strokeWidth: 40 });
  }),
  createScene('text', 'Text, left to right and right to left', (editor) => {
    editor.add('text', { x: 15, y: 15, text: 'Look here\nand there', size: 24, color: '#1b1b1f' });
    editor.add('text', { x: 15, y: 90, text: 'שלום עולם', size: 24, color: '#0b57d0' });
  }),
  createScene('marker', 'Numbered markers', (editor) => {
    for (const [nth, color] of ['#d92d20', '#0b57d0', '#ffe600'].entries())
      editor.add('marker', { x: 40 + nth * 60, y: 70, label: `${nth + 1}`, size: 30 + nth * 10, color });
  }),
  createScene('callout', 'A callout that points at something', (editor) => {
    editor.add('callout', {
      x: 20,
      y: 15,
      width: 140,
      height: 60,
      tipX: 170,
      tipY: 125,
      text: 'This one',
      strokeWidth: 3,
      color: '#d92d20',
    });
  }),
  createScene('redaction', 'A redaction covers whole pixels', (editor) => {
    addStripes(editor);
    editor.add('redaction', { x: 30.4, y: 40.6, width: 140, height: 55.3, color: '#00000080' });
  }),
  createScene('blur', 'A blur, which is cosmetic', (editor) => {
    addStripes(editor);
    editor.add('blur', { x: 30, y: 30, width: 140, height: 80, strength: 14 });
  }),
  createScene('rotation', 'Turned about their middles', (editor) => {
    for (let rotation = 0; rotation < 90; rotation += 15)
      editor.add('rect', { x: 40, y: 55, width: 120, height: 30, rotation, color: '#0b57d0', fill: false, strokeWidth: 2 });
  }),
  createScene('opacity', 'See-through: the parts of a shape do not shine through each other', (editor) => {
    addStripes(editor);
    editor.add('arrow', { x1: 20, y1: 70, x2: 180, y2: 70, strokeWidth: 20, color: '#16a34a', opacity: 0.5 });
  }),
  createScene('crisp', 'Without smooth edges', (editor) => {
    editor.add('ellipse', { cx: 100, cy: 70, rx: 80, ry: 50, color: '#7c3aed', antiAlias: false });
  }),
];
