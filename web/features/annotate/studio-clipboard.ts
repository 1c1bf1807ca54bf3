import type { Problem } from '#kit/problems.ts';
import { m } from '#app/i18n/messages.ts';
import type { Studio } from '#canvas/studio.ts';
import { exportSelectionPng } from './export-drawing.ts';
import { readClipboardPicture, getTransferFiles } from './capture-picture.ts';

export const createNothingToPasteProblem = (): Problem => ({ message: m.annotate_nothing_to_paste(), code: null });

/** Whether the element is a text field, which handles copy and paste itself. */
export const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest('textarea, select, [contenteditable], dialog, input:not([type=radio], [type=checkbox], [type=color], [type=range])') !==
    null;

/** Copies or cuts the selection: as JSON for other drawings, and as a picture for other programs. */
export function handleCopy(event: ClipboardEvent, studio: Studio): void {
  if (isTextField(event.target) || studio.selection.length === 0 || !event.clipboardData || getSelection()?.toString()) return;
  const { text, item } = copyAsEvent(studio, event.type === 'cut');
  event.clipboardData.setData('text/plain', text);
  event.preventDefault();
  // A picture cannot be set within the event. If the browser refuses it, the JSON remains.
  navigator.clipboard.write([item]).catch(() => {});
}

/** Copies the selection without a browser event. Rejects if the browser does not allow it. */
export const copySelection = (studio: Studio): Promise<void> => navigator.clipboard.write([copyAsEvent(studio, false).item]);

/**
 * Pastes the shapes on the clipboard centred on a point of the drawing, or passes a picture on it to `onpicture`. Returns false if there is
 * neither. Rejects if the browser does not allow it.
 */
export async function pasteShapes(studio: Studio, at: { x: number; y: number }, onpicture: (picture: Blob) => unknown): Promise<boolean> {
  if (studio.paste(await navigator.clipboard.readText(), at)) return true;
  const picture = await readClipboardPicture();
  if (picture) await onpicture(picture);
  return picture !== null;
}

function copyAsEvent(studio: Studio, cut: boolean): { text: string; item: ClipboardItem } {
  const shapes = studio.drawing.shapes.filter(({ id }) => studio.selection.includes(id));
  const text = cut ? studio.cut() : studio.copy();
  return {
    text,
    item: new ClipboardItem({ 'text/plain': new Blob([text], { type: 'text/plain' }), 'image/png': exportSelectionPng(shapes) }),
  };
}

/** Pastes shapes, or returns pasted files to be read. Null if there is neither, as with other text. */
export function handlePaste(event: ClipboardEvent, studio: Studio): File[] | null {
  if (isTextField(event.target) || !event.clipboardData) return [];
  // Shapes come with a picture of themselves.
  if (studio.paste(event.clipboardData.getData('text/plain'))) {
    event.preventDefault();
    return [];
  }
  const files = getTransferFiles(event.clipboardData);
  event.preventDefault();
  return files.length > 0 ? files : null;
}
