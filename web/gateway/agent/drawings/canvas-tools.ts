import { toBase64 } from '#shared/base64.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { id } from '#shared/rpc/frames.ts';
import { z } from '#shared/rpc/zod.ts';
import { drawParams, drawShapes } from '../../drawings/agent-shapes.ts';
import { AGENT_SHAPE_PREFIX, toAgentView } from '../../drawings/agent-view.ts';
import type { DrawingStore } from '../../drawings/drawing-store.ts';
import type { Painter } from '../../drawings/painter.ts';
import { MAX_IMAGE_BYTES } from '../runs/attachments.ts';
import { type ContentLabels, getLabelSources } from '../trust/content-labels.ts';
import { toSource } from '../trust/content-sources.ts';
import { getTextPage } from '../workspace/text-page.ts';
import { MAX_TEXT_CHARS, toUntrustedText } from '../tools/office-tools.ts';
import { sendPicture } from '../tools/send-picture.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Tool } from '../tools/tool-registry.ts';
import type { Lazy } from '../../system/modules.ts';

interface CanvasToolsDeps {
  drawings: Lazy<Pick<DrawingStore, 'list' | 'read' | 'edit'>>;
  paint: Painter | undefined;
  labels: ContentLabels;
}

/** Longer side, in pixels, of images for vision models. */
const MAX_SIDE_PX = 1568;

const formatShapeCount = (count: number): string => (count === 1 ? 'a shape' : `${count} shapes`);

/** Replaces the title of a drawing that waits for review. */
const UNREVIEWED_TITLE = 'Not reviewed yet';
const drawingIdParam = id.describe('Drawing id from canvas_open');

/** Tools to view and edit the user's drawings (docs/decisions/0053-drawings-in-the-gateway.md). */
export function canvasTools({ drawings, paint, labels }: CanvasToolsDeps): Tool[] {
  return [
    defineTool({
      name: 'canvas_open',
      title: 'View drawings',
      summary: 'Lists your drawings, or reads the shapes and notes of one.',
      description: 'Lists the user’s drawings and annotated screenshots, or reads one: its size, shapes and notes.',
      source: 'core',
      scope: 'files',
      params: z.strictObject({
        drawingId: drawingIdParam.optional(),
        offset: z.number().int().min(0).default(0).describe('As given in "next"'),
      }),
      impact: 'reads',
      async run({ drawingId, offset }, { taint }) {
        const from = await drawings.load();
        if (drawingId === undefined) {
          const labelled = await labels.list('drawing');
          // A title is content too. In an untainted run, opening the drawing shows it.
          const listed = (await from.list()).map((entry) =>
            taint?.isTainted === false && labelled.has(entry.id) ? { ...entry, title: UNREVIEWED_TITLE } : entry,
          );
          if (taint?.isTainted) taint.add(listed.flatMap(({ id }) => labelled.get(id) ?? []));
          const { content, nextOffset } = getTextPage(JSON.stringify(listed), offset, MAX_TEXT_CHARS);
          return { ...(nextOffset === null ? {} : { next: nextOffset }), ...toUntrustedText({ text: content }) };
        }
        const { entry, drawing } = await from.read(drawingId);
        taint?.add(await labels.getSources('drawing', drawingId));
        const { x, y, width, height, background } = drawing.page;
        const text = JSON.stringify({ title: entry.title, shapes: toAgentView(drawing) });
        const { content, nextOffset } = getTextPage(text, offset, MAX_TEXT_CHARS);
        return {
          ...{ drawingId, sheet: { x, y, width, height, background } },
          ...(nextOffset === null ? {} : { next: nextOffset }),
          ...toUntrustedText({ text: content }),
        };
      },
    }),
    defineTool({
      name: 'canvas_draw',
      title: 'Edit drawing',
      summary: 'Adds, changes or removes shapes in one of your drawings.',
      description:
        'Draws on a drawing or screenshot: arrows, boxes, circles, text, markers, callouts, blurs. In pixels from the top left corner. Returns the ids of added shapes.',
      source: 'core',
      scope: 'files',
      params: z.strictObject({ drawingId: drawingIdParam, ...drawParams }),
      asksWhen: 'Asks before it changes or removes shapes that it did not draw itself.',
      // Added shapes can be removed again; a person's shapes cannot be restored.
      effect: ({ change, remove }) => {
        const [changed, removed] = [change.map((each) => each.id), remove].map(
          (ids) => ids.filter((each) => !each.startsWith(AGENT_SHAPE_PREFIX)).length,
        );
        if (!changed && !removed) return undefined;
        return [
          changed && `Change ${formatShapeCount(changed)} in a drawing`,
          removed && `Remove ${formatShapeCount(removed)} from a drawing`,
        ]
          .filter(Boolean)
          .join('. ');
      },
      check: async ({ drawingId }) => (await drawings.load()).read(drawingId),
      impact: ({ change, remove }) => ([...change.map((each) => each.id), ...remove].length > 0 ? 'changes' : 'adds'),
      async run({ drawingId, ...work }, context) {
        await labels.add('drawing', drawingId, getLabelSources(context));
        const added = await (await drawings.load()).edit(drawingId, (drawing) => drawShapes(drawing, work));
        return { drawingId, added, changed: work.change.length, removed: work.remove.length };
      },
    }),
    defineTool({
      name: 'canvas_capture',
      title: 'Capture drawing',
      summary: 'Makes an image of one of your drawings.',
      description: 'Shows a drawing as an image, to you and to the user.',
      source: 'core',
      scope: 'files',
      params: z.strictObject({ drawingId: drawingIdParam }),
      impact: 'reads',
      async run({ drawingId }, context) {
        if (!paint) throw new RpcError('INTERNAL_ERROR', 'Drawings can’t be captured here.');
        const { entry, drawing } = await (await drawings.load()).read(drawingId);
        // A screenshot or a pasted image may show anything.
        const isPicture = drawing.shapes.some(({ kind }) => kind === 'image');
        context.taint?.add(await labels.getSources('drawing', drawingId));
        if (isPicture) context.taint?.add([toSource('picture', entry.title)]);
        const { width, height } = drawing.page;
        let scale = Math.min(1, MAX_SIDE_PX / Math.max(width, height));
        let png = await paint(drawing, scale);
        while (png.byteLength > MAX_IMAGE_BYTES) png = await paint(drawing, (scale *= 0.7));
        const sent = sendPicture(context, { data: toBase64(png), mimeType: 'image/png', size: png.byteLength, name: 'drawing' });
        return { ...sent, scale: Number(scale.toFixed(4)), width: Math.round(width * scale), height: Math.round(height * scale) };
      },
    }),
  ];
}
