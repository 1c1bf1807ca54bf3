import { Canvas, Ellipse, FabricText, Line, Path, PencilBrush, Polygon, Rect } from 'fabric/es';
import { generateNKeysBetween } from 'fractional-indexing';
import type { FieldValues } from '#shared/canvas/change.ts';
import { FreehandCanvas } from '../../../web/canvas/freehand-canvas.ts';
import type { Stage } from '../../../web/canvas/stage.ts';
import { type SceneShape, createScene, SHEET_SIZE } from './scene.ts';

/** Interface of a measured canvas. */
export interface Contestant {
  readonly element: HTMLElement;
  /** Element that receives pointers. */
  readonly surface: HTMLElement;
  /** Moves or scales the view and renders immediately. */
  view(x: number, y: number, zoom: number): void;
  /** Whether part of the shape being drawn is painted. */
  inkAt(x: number, y: number): boolean;
  /** Performs `count` steps that can be undone. */
  steps(count: number): void;
  undo(): void;
  render(): void;
  png(): Promise<number>;
  dispose(): Promise<void>;
}

const LINE_WIDTH = 2;
const readPixels = (context: CanvasRenderingContext2D, x: number, y: number): boolean =>
  context.getImageData(x - 2, y - 2, 5, 5).data.some((value) => value > 0);

function toFields(drawn: SceneShape): FieldValues {
  const style = {
    opacity: 1,
    rotation: 0,
    antiAlias: true,
    hidden: false,
    locked: false,
    strokeWidth: LINE_WIDTH,
    fill: false,
    removed: false,
  };
  const { kind: _, ...rest } = drawn;
  switch (drawn.kind) {
    case 'rect':
      return { ...style, ...rest, kind: 'rect', radius: 0 };
    case 'polygon':
      return { ...style, ...rest, kind: 'polygon', fill: true };
    case 'curve': {
      const [[x, y], [x1, y1], [toX, toY]] = [drawn.at, drawn.by, drawn.to];
      const elements = [
        { type: 'move' as const, x, y },
        { type: 'quadratic' as const, x1, y1, x: toX, y: toY },
      ];
      return { ...style, kind: 'path', color: drawn.color, elements };
    }
    case 'text': {
      const { strokeWidth: _width, fill: _fill, ...letters } = style;
      return { ...letters, ...drawn, size: 16 };
    }
    default:
      return { ...style, ...drawn };
  }
}

export function createPerchContestant(count: number): Contestant {
  const canvas = new FreehandCanvas({ ...SHEET_SIZE, stroke_color: '#ff0000', stroke_width: 4 });
  const keys = generateNKeysBetween(null, null, count);
  canvas.drawing.write(createScene(count).map((drawn, nth) => [`s${nth}`, { ...toFields(drawn), order: keys[nth] }]));
  const { fabric } = Reflect.get(canvas, 'stage') as Stage;
  fabric.renderAll();
  return {
    element: canvas.element,
    surface: fabric.upperCanvasEl,
    view(x, y, zoom) {
      fabric.setViewportTransform([zoom, 0, 0, zoom, x, y]);
      fabric.renderAll();
    },
    inkAt: (x, y) => readPixels(fabric.contextTop, x, y),
    steps(times) {
      for (let nth = 0; nth < times; nth++) {
        const id = `s${(nth * 37) % count}`;
        if (nth % 3 === 0) canvas.drawRect((nth * 7) % 1800, (nth * 13) % 1000, 40, 30, '#00aa00');
        else if (nth % 3 === 1) canvas.editor.set<'rect'>(id, { color: '#0000ff' });
        else canvas.editor.move([id], 'front');
      }
    },
    undo: () => void canvas.undo(),
    render: () => fabric.renderAll(),
    png: async () => (await canvas.capturePng()).length,
    dispose: () => canvas.dispose(),
  };
}

function toFabricObject(drawn: SceneShape) {
  const toPaint = (fill: boolean) => ({
    fill: fill ? drawn.color : '',
    stroke: fill ? '' : drawn.color,
    strokeWidth: fill ? 0 : LINE_WIDTH,
  });
  switch (drawn.kind) {
    case 'rect':
      return new Rect({ left: drawn.x, top: drawn.y, width: drawn.width, height: drawn.height, ...toPaint(drawn.fill) });
    case 'ellipse':
      return new Ellipse({ left: drawn.cx - drawn.rx, top: drawn.cy - drawn.ry, rx: drawn.rx, ry: drawn.ry, ...toPaint(drawn.fill) });
    case 'line':
      return new Line([drawn.x1, drawn.y1, drawn.x2, drawn.y2], toPaint(false));
    case 'polygon':
      return new Polygon(
        drawn.points.map(([x, y]) => ({ x, y })),
        toPaint(true),
      );
    case 'curve':
      return new Path(`M${drawn.at.join(' ')}Q${drawn.by.join(' ')} ${drawn.to.join(' ')}`, toPaint(false));
    case 'text':
      return new FabricText(drawn.text, { left: drawn.x, top: drawn.y, fontSize: 16, fill: drawn.color, fontFamily: 'system-ui' });
  }
}

export function createFabricContestant(count: number): Contestant {
  const element = document.createElement('div');
  const canvas = new Canvas(element.appendChild(document.createElement('canvas')), {
    ...SHEET_SIZE,
    selection: false,
    skipTargetFind: true,
  });
  const objects = createScene(count).map(toFabricObject);
  canvas.add(...objects);
  canvas.freeDrawingBrush = new PencilBrush(canvas);
  canvas.freeDrawingBrush.width = 4;
  canvas.freeDrawingBrush.color = '#ff0000';
  canvas.isDrawingMode = true;
  canvas.renderAll();
  const done: (() => void)[] = [];
  return {
    element,
    surface: canvas.upperCanvasEl,
    view(x, y, zoom) {
      canvas.setViewportTransform([zoom, 0, 0, zoom, x, y]);
      canvas.renderAll();
    },
    inkAt: (x, y) => readPixels(canvas.contextTop, x, y),
    steps(times) {
      // Fabric has no undo: this is the code that a program would need.
      for (let nth = 0; nth < times; nth++) {
        const object = objects[(nth * 37) % count];
        if (!object) continue;
        if (nth % 3 === 0) {
          const rect = new Rect({ left: (nth * 7) % 1800, top: (nth * 13) % 1000, width: 40, height: 30, fill: '#00aa00' });
          canvas.add(rect);
          done.push(() => void canvas.remove(rect));
        } else if (nth % 3 === 1) {
          const before: unknown = object.stroke;
          object.set('stroke', '#0000ff');
          done.push(() => void object.set('stroke', before));
        } else {
          const at = canvas.getObjects().indexOf(object);
          canvas.bringObjectToFront(object);
          done.push(() => void canvas.moveObjectTo(object, at));
        }
      }
    },
    undo: () => done.pop()?.(),
    render: () => canvas.renderAll(),
    async png() {
      const blob = await canvas.toBlob({ format: 'png', multiplier: 1, enableRetinaScaling: false });
      return (await blob?.arrayBuffer())?.byteLength ?? 0;
    },
    async dispose() {
      await canvas.dispose();
      element.remove();
    },
  };
}
