/** A request to draw a page of a PDF. */
export interface DrawRequest {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** Number of the page, from 1. */
  page: number;
  /** Text to mark on the page; empty for none. */
  quote: string;
  /** Width of the drawing in pixels. */
  width: number;
}

/** A rectangle as fractions of the page's width and height. */
export interface PageArea {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** A page of a PDF as a picture, with the places of the quote: one area for each piece of text; none if it was not found. */
export interface PageDrawing {
  picture: ImageBitmap;
  pageCount: number;
  marks: PageArea[];
}

/** Messages from the document worker about a drawing; signs of life have other fields or none. */
export type DrawingMessage = { drawing: PageDrawing } | { refused: { message: string } } | { failed: string };
