import { toolbarOf } from './canvas-toolbar.ts';
import { DrawnCanvas } from './drawn-canvas.ts';
import type { ImageOptions } from '../../paint/export.ts';
import { type ImageCanvasOptions, imageOptionsOf } from './image-canvas.ts';
import type { Spelt } from './spelt.ts';
import { TOOLS } from './tools.ts';
import { type ImageSource, Underlay } from './underlay.ts';

/** A picture that a person annotates (interface document 2, section 4.3), with a bar of tools. Width is 3 and colour `#d92d20` at first. */
export class AnnotationCanvas extends DrawnCanvas {
  readonly #gone = new AbortController();
  readonly #under: Underlay;

  /** `imageSrc`, `width`, `height`, or an object of them. The picture is there once `ready` is. */
  constructor(imageSrc: ImageSource, width: number, height: number);
  constructor(options: Spelt<ImageCanvasOptions>);
  constructor(...given: readonly unknown[]) {
    const { imageSrc, width, height } = imageOptionsOf(given);
    super({ width, height }, { color: '#d92d20', width: 3 });
    this.#under = new Underlay(this.drawing, imageSrc);
  }

  /** Resolves once the picture is there. Throws an Error where it cannot be had or read. */
  get ready(): Promise<void> {
    return this.#under.ready;
  }

  /** Lays another picture under what is drawn. Throws an Error where it cannot be had or read; the one before then stays. */
  setImage(src: ImageSource): Promise<void> {
    return this.#under.set(src);
  }

  /** A bar with every tool, colour, width, undo, redo and clear, to put where it is wanted. */
  buildToolbar(): HTMLElement {
    return toolbarOf(this, TOOLS, { signal: this.#gone.signal });
  }

  override async capturePng(options: Pick<ImageOptions, 'scale'> = {}): Promise<Uint8Array<ArrayBuffer>> {
    await this.#under.ready;
    return super.capturePng(options);
  }

  override async dispose(): Promise<void> {
    this.#gone.abort();
    await super.dispose();
  }
}
