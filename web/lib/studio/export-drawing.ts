import type { Picture } from '#shared/canvas/cover.ts';
import type { Drawing } from '#shared/canvas/drawing.ts';
import type { Shape } from '#shared/canvas/fields.ts';
import { drawingToJson } from '#shared/canvas/file.ts';
import { boundsOf } from '#shared/canvas/geometry.ts';
import { m } from '#lib/i18n/pages.ts';
import { fileName } from '#lib/save-file.ts';
import { exportImage, exportSvg } from '../../paint/export.ts';
import { measureText } from '../../paint/measure.ts';

export const EXPORTS = {
  png: { label: () => 'PNG', type: 'image/png' },
  jpeg: { label: () => 'JPEG', type: 'image/jpeg' },
  svg: { label: () => 'SVG', type: 'image/svg+xml' },
  json: { label: () => m.annotate_export_json(), type: 'application/json' },
} as const;
export type ExportKind = keyof typeof EXPORTS;

/** Maximum bytes of a picture in a message (limits.ts), minus the overhead of its frame. */
const CHAT_BYTES = 6 * 1024 * 1024;

/** The drawing as a file. In all but JSON what a redaction hides is gone. Rejects with an Error that says why it cannot be made. */
export async function exported(drawing: Drawing, kind: ExportKind, title: string): Promise<File> {
  const { type } = EXPORTS[kind];
  const ending = kind === 'jpeg' ? 'jpg' : kind === 'json' ? 'perch-drawing.json' : kind;
  return new File([await content(drawing, kind)], `${fileName(title, m.annotate_file_name())}.${ending}`, { type });
}

async function content(drawing: Drawing, kind: ExportKind): Promise<BlobPart> {
  if (kind === 'json') return drawingToJson(drawing);
  if (kind === 'svg') return exportSvg(drawing);
  return exportImage(drawing, kind === 'png' ? { type: 'image/png' } : { type: 'image/jpeg', quality: 0.92 });
}

/** Whether something is hidden that a drawing’s JSON still tells. */
export const hasRedaction = ({ shapes }: Picture): boolean => shapes.some(({ kind, hidden }) => kind === 'redaction' && !hidden);

/** A picture for a message: a PNG if that is small enough, else a JPEG, scaled down until it is. */
export async function pictureForChat(drawing: Drawing, title: string): Promise<File> {
  const name = fileName(title, m.annotate_file_name());
  const png = await exportImage(drawing);
  if (png.byteLength <= CHAT_BYTES) return new File([png], `${name}.png`, { type: 'image/png' });
  for (let scale = 1; ; scale *= 0.7) {
    const jpeg = await exportImage(drawing, { type: 'image/jpeg', quality: 0.88, scale });
    if (jpeg.byteLength <= CHAT_BYTES) return new File([jpeg], `${name}.jpg`, { type: 'image/jpeg' });
  }
}

/** Exports some shapes as a PNG of their bounds. */
export async function selectionPng(shapes: readonly Shape[]): Promise<Blob> {
  const boxes = shapes.map((shape) => boundsOf(shape, measureText));
  const x = Math.floor(Math.min(...boxes.map((box) => box.x)));
  const y = Math.floor(Math.min(...boxes.map((box) => box.y)));
  const width = Math.max(1, Math.ceil(Math.max(...boxes.map((box) => box.x + box.width))) - x);
  const height = Math.max(1, Math.ceil(Math.max(...boxes.map((box) => box.y + box.height))) - y);
  const png = await exportImage({ page: { kind: 'page', x, y, width, height, background: null }, shapes });
  return new Blob([png], { type: 'image/png' });
}
