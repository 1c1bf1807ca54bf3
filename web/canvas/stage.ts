import { PAGE_ID } from '#shared/canvas/change.ts';
import type { Drawing, DrawingEvent } from '#shared/canvas/drawing.ts';
import type { Editor } from '#shared/canvas/editor.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';
import { getFrame, getRotation } from '#shared/canvas/geometry.ts';
import { toBlob, decodeImage, type DecodedImages } from '../paint/decode-images.ts';
import { measureText } from '../paint/measure-text.ts';
import { paintCentered } from '../paint/paint-picture.ts';
import { CachedCanvas } from './cached-canvas.ts';
import type { DrawingScreen } from './drawing-screen.ts';
import { ShapeObject } from './shape-object.ts';
import { hideEmpty } from './canvas-styles.ts';

/** Shows a drawing on the screen with Fabric and applies changes by its handles to the drawing. */
export class Stage implements DrawingScreen {
  readonly fabric: CachedCanvas;
  readonly #drawing: Drawing;
  readonly #parent: HTMLElement;
  readonly #isFree: boolean;
  readonly #objects = new Map<string, ShapeObject>();
  readonly #images = new Map<string, ImageBitmap>();
  readonly #loading = new Set<string>();
  readonly #unsubscribe: () => void;
  #draft: Shape | undefined;

  /** `parent` gets the size of the sheet and contains the canvas. `free`: the caller sets size and viewport, and there are no handles. */
  constructor(editor: Editor, parent: HTMLElement, free = false) {
    this.#drawing = editor.drawing;
    this.#parent = parent;
    this.#isFree = free;
    const element = parent.appendChild(document.createElement('canvas'));
    this.fabric = new CachedCanvas(element, {
      selection: false,
      skipTargetFind: true,
      preserveObjectStacking: true,
      enablePointerEvents: true,
      uniformScaling: false,
      fireRightClick: false,
    });
    this.fabric.on('object:modified', ({ target }) => {
      if (target instanceof ShapeObject) editor.set(target.shape.id, target.toFields());
    });
    hideEmpty(this.surface, true);
    this.#unsubscribe = this.#drawing.onChange((event) => this.#onDrawingChange(event));
    this.#updateSheet();
    this.#drawing.shapes.forEach((shape, at) => this.#placeShape(shape, at));
  }

  get surface(): HTMLCanvasElement {
    return this.fabric.upperCanvasEl;
  }

  get selectable(): boolean {
    return !this.fabric.skipTargetFind;
  }

  set selectable(on: boolean) {
    this.fabric.skipTargetFind = !on;
    this.fabric.defaultCursor = on ? 'default' : 'crosshair';
    if (!on) this.fabric.discardActiveObject();
    this.fabric.requestRenderAll();
  }

  get selected(): string | undefined {
    const active = this.fabric.getActiveObject();
    return active instanceof ShapeObject ? active.shape.id : undefined;
  }

  set draft(shape: Shape | undefined) {
    this.#draft = shape;
    const { contextTop: context } = this.fabric;
    this.fabric.clearContext(context);
    if (shape) this.paint(context, shape);
    hideEmpty(this.surface, !shape);
  }

  get draft(): Shape | undefined {
    return this.#draft;
  }

  /** Paints a shape with the viewport's transform. */
  paint(context: CanvasRenderingContext2D, shape: Shape): void {
    context.save();
    context.transform(...this.fabric.viewportTransform);
    const { x, y, width, height } = getFrame(shape, measureText);
    context.translate(x + width / 2, y + height / 2);
    context.rotate((getRotation(shape) * Math.PI) / 180);
    paintCentered(context, shape, this.#images);
    context.restore();
  }

  /** Shows changed versions of shapes, until they are shown again or changed in the drawing. */
  showOverrides(shapes: Iterable<Shape>): void {
    for (const shape of shapes) this.#objects.get(shape.id)?.setShape(shape);
    this.fabric.requestRenderAll();
  }

  async dispose(): Promise<void> {
    this.#unsubscribe();
    for (const image of this.#images.values()) image.close();
    this.#images.clear();
    await this.fabric.dispose();
  }

  #onDrawingChange({ ids }: DrawingEvent): void {
    const presentIds = [...ids].filter((id) => this.#drawing.shape(id)).sort((a, b) => this.#drawing.placeOf(a) - this.#drawing.placeOf(b));
    for (const id of ids) if (!this.#drawing.shape(id)) this.#removeObject(id);
    // Moved to the front first, so that each can then be inserted at its index, the lowest first.
    if (presentIds.length > 1)
      for (const object of presentIds.flatMap((id) => this.#objects.get(id) ?? [])) this.fabric.bringObjectToFront(object);
    if (ids.has(PAGE_ID)) this.fabric.damageAll();
    for (const id of presentIds) {
      const shape = this.#drawing.shape(id);
      if (shape) this.#placeShape(shape, this.#drawing.placeOf(id));
    }
    this.#updateSheet();
    this.fabric.requestRenderAll();
  }

  #updateSheet(): void {
    if (this.#isFree) return;
    const { x, y, width, height, background } = this.#drawing.page;
    if (this.fabric.width !== width || this.fabric.height !== height || this.#parent.style.width === '') {
      this.fabric.setDimensions({ width, height });
      // Scales the sheet down on narrow pages.
      this.fabric.setDimensions({ width: '100%', height: '100%' }, { cssOnly: true });
      this.#parent.style.width = `${width}px`;
      this.#parent.style.aspectRatio = `${width} / ${height}`;
    }
    this.fabric.backgroundColor = background ?? '';
    this.fabric.setViewportTransform([1, 0, 0, 1, -x, -y]);
  }

  #placeShape(shape: Shape, at: number): void {
    const existing = this.#objects.get(shape.id);
    if (existing) {
      existing.setShape(shape);
      this.fabric.moveObjectTo(existing, at);
    } else {
      const object = new ShapeObject(shape, (): DecodedImages => this.#images);
      this.#objects.set(shape.id, object);
      this.fabric.insertAt(at, object);
    }
    if (shape.kind === 'image') void this.#loadImage(shape.src);
  }

  #removeObject(id: string): void {
    const object = this.#objects.get(id);
    if (!object) return;
    this.#objects.delete(id);
    if (this.fabric.getActiveObject() === object) this.fabric.discardActiveObject();
    this.fabric.remove(object);
  }

  /** Loads a picture. One that cannot be read stays invisible; the error was reported when it was inserted. */
  async #loadImage(src: string): Promise<void> {
    if (this.#images.has(src) || this.#loading.has(src)) return;
    this.#loading.add(src);
    try {
      this.#images.set(src, await decodeImage(toBlob(src)));
      for (const object of this.#objects.values())
        if (object.shape.kind === 'image' && object.shape.src === src) this.fabric.damage(object.area);
      this.fabric.requestRenderAll();
    } catch (error) {
      console.warn(error);
    } finally {
      this.#loading.delete(src);
    }
  }
}
