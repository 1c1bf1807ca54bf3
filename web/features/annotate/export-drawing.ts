import type { DrawingContent } from '#shared/canvas/visible-shapes.ts';
import type { Drawing } from '#shared/canvas/drawing.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';
import { drawingToJson } from '#shared/canvas/drawing-file.ts';
import { getPaintedBounds } from '#shared/canvas/geometry.ts';
import { m } from '#app/i18n/messages.ts';
import { toFileName } from '#app/files/save-file.ts';
import { formatConversion } from './excalidraw-files.ts';
import { exportImage, exportSvg } from '../../paint/export-image.ts';
import { measureText } from '../../paint/measure-text.ts';

export const EXPORT_KINDS = {
  png: { label: () => 'PNG', type: 'image/png' },
  jpeg: { label: () => 'JPEG', type: 'image/jpeg' },
  svg: { label: () => 'SVG', type: 'image/svg+xml' },
  json: { label: () => m.annotate_export_json(), type: 'application/json' },
  excalidraw: { label: () => m.annotate_export_excalidraw(), type: 'application/json' },
} as const;
export type ExportKind = keyof typeof EXPORT_KINDS;

/** Maximum bytes of a picture in a message (limits.ts), minus the overhead of its frame. */
const MAX_CHAT_BYTES = 6 * 1024 * 1024;

/**
 * Exports a drawing as a file. Redacted content is removed, except in editable files. `notice`: what the format could not keep. Rejects
 * with an Error that says why the file cannot be created.
 */
export async function exportDrawing(drawing: Drawing, kind: ExportKind, title: string): Promise<{ file: File; notice: string }> {
  const { type } = EXPORT_KINDS[kind];
  const extension = kind === 'jpeg' ? 'jpg' : kind === 'json' ? 'perch-drawing.json' : kind;
  const { content, notice = '' } = await createContent(drawing, kind);
  return { file: new File([content], `${toFileName(title, m.annotate_file_name())}.${extension}`, { type }), notice };
}

async function createContent(drawing: Drawing, kind: ExportKind): Promise<{ content: BlobPart; notice?: string }> {
  if (kind === 'json') return { content: drawingToJson(drawing) };
  if (kind === 'excalidraw') {
    const { drawingToExcalidraw } = await import('#shared/canvas/excalidraw/excalidraw-export.ts');
    const { json, simplified } = drawingToExcalidraw(drawing, measureText);
    return { content: json, notice: formatConversion({ simplified }) };
  }
  if (kind === 'svg') return { content: await exportSvg(drawing) };
  return { content: await exportImage(drawing, kind === 'png' ? { type: 'image/png' } : { type: 'image/jpeg', quality: 0.92 }) };
}

/** Whether a drawing has redactions, whose hidden content its JSON still contains. */
export const hasRedaction = ({ shapes }: DrawingContent): boolean => shapes.some(({ kind, hidden }) => kind === 'redaction' && !hidden);

/** Creates a picture for a message: a PNG if it is small enough, otherwise a JPEG, scaled down as needed. */
export async function createChatPicture(drawing: Drawing, title: string): Promise<File> {
  const name = toFileName(title, m.annotate_file_name());
  const png = await exportImage(drawing);
  if (png.byteLength <= MAX_CHAT_BYTES) return new File([png], `${name}.png`, { type: 'image/png' });
  for (let scale = 1; ; scale *= 0.7) {
    const jpeg = await exportImage(drawing, { type: 'image/jpeg', quality: 0.88, scale });
    if (jpeg.byteLength <= MAX_CHAT_BYTES) return new File([jpeg], `${name}.jpg`, { type: 'image/jpeg' });
  }
}

/** Exports some shapes as a PNG of their bounds. */
export async function exportSelectionPng(shapes: readonly Shape[]): Promise<Blob> {
  const boxes = shapes.map((shape) => getPaintedBounds(shape, measureText));
  const x = Math.floor(Math.min(...boxes.map((box) => box.x)));
  const y = Math.floor(Math.min(...boxes.map((box) => box.y)));
  const width = Math.max(1, Math.ceil(Math.max(...boxes.map((box) => box.x + box.width))) - x);
  const height = Math.max(1, Math.ceil(Math.max(...boxes.map((box) => box.y + box.height))) - y);
  const png = await exportImage({ page: { kind: 'page', x, y, width, height, background: null }, shapes });
  return new Blob([png], { type: 'image/png' });
}
