import type { Shape } from '#shared/canvas/shape-fields.ts';
import { type CanvasOptions, DrawableCanvas } from './drawable-canvas.ts';
import type { ImageOptions } from '../paint/export-image.ts';
import { type Paint, toPaintStyle } from './paint-style.ts';
import { toOptions, type AnySpelling } from './spelling-options.ts';
import { type ImageSource, PictureUnderlay } from './picture-underlay.ts';

export interface ImageCanvasOptions {
  readonly imageSrc: ImageSource;
  /** CSS pixels; the picture is fitted into it, in the middle. */
  readonly width: number;
  readonly height: number;
}

export const toImageOptions = (args: readonly unknown[]): ImageCanvasOptions => {
  const { imageSrc = '', width = 640, height = 480 } = toOptions<ImageCanvasOptions>(['imageSrc', 'width', 'height'], args);
  return { imageSrc, width, height };
};

/** Default colour of annotations. */
const DEFAULT_COLOR = '#d92d20';

/** A canvas over a picture: PNG, JPEG, WebP, GIF, AVIF, BMP or SVG. */
export class ImageCanvas extends DrawableCanvas {
  readonly #underlay: PictureUnderlay;

  /** `imageSrc`, `width`, `height`, or an object of them. `ready` resolves when the picture has loaded. */
  constructor(imageSrc: ImageSource, width: number, height: number);
  constructor(options: AnySpelling<ImageCanvasOptions>);
  constructor(...args: readonly unknown[]) {
    const { imageSrc, width, height } = toImageOptions(args);
    super({ width, height } satisfies CanvasOptions);
    this.#underlay = new PictureUnderlay(this.drawing, imageSrc);
  }

  /** Resolves when the picture has loaded. Rejects with an Error if it cannot be fetched or read. */
  get ready(): Promise<void> {
    return this.#underlay.ready;
  }

  /** Replaces the picture under the shapes. Rejects with an Error and keeps the previous picture if it cannot be fetched or read. */
  setImage(src: ImageSource): Promise<void> {
    return this.#underlay.set(src);
  }

  /** A rectangle, outlined unless `fill` or a `PaintStyle` says otherwise, by `strokeWidth` CSS pixels (default 3); `#d92d20` by default. */
  override drawRect(
    x: number,
    y: number,
    w: number,
    h: number,
    color: Paint = DEFAULT_COLOR,
    fill?: boolean,
    strokeWidth?: number,
  ): Shape<'rect'> {
    const style = toPaintStyle({ fill: false, strokeWidth: 3, ...(typeof color === 'string' ? { color } : color) });
    const shape = { x, y, width: w, height: h, ...style, fill: fill ?? style.fill, strokeWidth: strokeWidth ?? style.strokeWidth };
    return this.draw('rect', shape, { width: 'w', height: 'h' });
  }

  /** An arrow to (x2, y2), 3 CSS pixels wide unless a `PaintStyle` says otherwise. */
  drawArrow(x1: number, y1: number, x2: number, y2: number, color: Paint = DEFAULT_COLOR): Shape<'arrow'> {
    const { antiAlias, color: ink, strokeWidth } = toPaintStyle(typeof color === 'string' ? { color, strokeWidth: 3 } : color);
    return this.add('arrow', { x1, y1, x2, y2, color: ink, antiAlias, strokeWidth });
  }

  override drawText(x: number, y: number, text: string, color: Paint = DEFAULT_COLOR, size = 16): Shape<'text'> {
    return super.drawText(x, y, text, color, size);
  }

  /** A filled circle of 28 CSS pixels about (x, y) with a number or a few letters in it. */
  drawMarker(x: number, y: number, label: string | number, color: Paint = DEFAULT_COLOR): Shape<'marker'> {
    return this.add('marker', { x, y, label: String(label), color: toPaintStyle(color).color });
  }

  /** Exports the drawing as a PNG after the picture has loaded. Rejects with an Error if the picture cannot be fetched or read. */
  override async capturePng(options: Pick<ImageOptions, 'scale'> = {}): Promise<Uint8Array<ArrayBuffer>> {
    await this.#underlay.ready;
    return super.capturePng(options);
  }
}
