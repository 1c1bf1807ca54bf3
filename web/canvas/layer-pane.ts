import type { PixelLayer, LayerView } from './pixel-layer.ts';
import { installStyles } from './canvas-styles.ts';

/**
 * Factor by which the background outside the pixels is coarser. It shows for a few frames only, and browsers without a GPU copy all of it
 * in each frame.
 */
const BACKGROUND_SCALE = 4;

/** The element under Fabric's canvas while a drawing is cached as pixels: the browser moves and scales it without painting. */
export class LayerPane {
  readonly #element = document.createElement('div');
  /** The background under all shapes, for the area that the pixels do not cover. */
  readonly #outside = document.createElement('canvas');

  constructor(wrapper: HTMLElement) {
    installStyles();
    this.#element.className = 'perch-layers';
    wrapper.prepend(this.#element);
  }

  /** Shows the layer in the view. `paintBackground` paints the background under all shapes. */
  show(view: LayerView, front: PixelLayer, paintBackground: (context: CanvasRenderingContext2D) => void): void {
    front.position(view);
    const elements: Element[] = [front.tiles.element];
    if (!front.isCovering(view)) {
      this.#paintOutside(view, paintBackground);
      elements.unshift(this.#outside);
    }
    const { children } = this.#element;
    if (elements.length !== children.length || elements.some((element, index) => element !== children[index]))
      this.#element.replaceChildren(...elements);
  }

  remove(): void {
    this.#element.remove();
  }

  #paintOutside(view: LayerView, paintBackground: (context: CanvasRenderingContext2D) => void): void {
    const ratio = view.getRetinaScaling() / BACKGROUND_SCALE;
    const [width, height] = [Math.ceil(view.width * ratio), Math.ceil(view.height * ratio)];
    if (this.#outside.width !== width || this.#outside.height !== height) Object.assign(this.#outside, { width, height });
    const context = this.#outside.getContext('2d');
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    paintBackground(context);
  }
}
