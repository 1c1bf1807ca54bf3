import type { Layer, View } from './layer.ts';
import { adoptStyles } from './styles.ts';

/**
 * Factor by which the background outside the pixels is coarser. It shows for a few frames only, and browsers without a GPU copy all of it
 * in each frame.
 */
const COARSER = 4;

/** The element under Fabric's canvas while a drawing is cached as pixels: the browser moves and scales it without painting. */
export class LayerPane {
  readonly #element = document.createElement('div');
  /** The background under all shapes, for the area that the pixels do not cover. */
  readonly #beside = document.createElement('canvas');

  constructor(wrapper: HTMLElement) {
    adoptStyles();
    this.#element.className = 'perch-layers';
    wrapper.prepend(this.#element);
  }

  /** `ground` paints what lies under all shapes. */
  show(view: View, front: Layer, ground: (context: CanvasRenderingContext2D) => void): void {
    front.place(view);
    const shown: Element[] = [front.tiles.element];
    if (!front.covers(view)) {
      this.#paintBeside(view, ground);
      shown.unshift(this.#beside);
    }
    const { children } = this.#element;
    if (shown.length !== children.length || shown.some((element, at) => element !== children[at])) this.#element.replaceChildren(...shown);
  }

  remove(): void {
    this.#element.remove();
  }

  #paintBeside(view: View, ground: (context: CanvasRenderingContext2D) => void): void {
    const ratio = view.getRetinaScaling() / COARSER;
    const [width, height] = [Math.ceil(view.width * ratio), Math.ceil(view.height * ratio)];
    if (this.#beside.width !== width || this.#beside.height !== height) Object.assign(this.#beside, { width, height });
    const context = this.#beside.getContext('2d');
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    ground(context);
  }
}
