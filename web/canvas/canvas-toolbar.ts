import type { InteractiveCanvas } from './interactive-canvas.ts';
import { createGap, createToolbar, createToolButton } from './toolbar.ts';
import type { Tool } from './drawing-tools.ts';

const TOOL_LABELS: Readonly<Record<Tool, string>> = {
  select: 'Select',
  pen: 'Pen',
  rect: 'Rectangle',
  circle: 'Circle',
  arrow: 'Arrow',
  marker: 'Numbered marker',
  text: 'Text',
};

/** Creates the buttons of a canvas, which show its current state and follow it until the signal aborts. */
export function createCanvasToolbar(
  canvas: InteractiveCanvas,
  tools: readonly Tool[],
  { signal, more = [] }: { signal: AbortSignal; more?: readonly HTMLElement[] },
): HTMLElement {
  const buttons = tools.map((tool) => {
    const button = createToolButton(tool, TOOL_LABELS[tool], () => {
      canvas.currentTool = tool;
      canvas.say(`Tool: ${TOOL_LABELS[tool]}`);
    });
    return [tool, button] as const;
  });
  const color = createField('Colour', 'color', () => (canvas.strokeColor = color.value));
  const width = createField('Line width', 'range', () => (canvas.strokeWidth = Number(width.value)));
  [width.min, width.max, width.step] = ['1', '32', '1'];
  const undo = createToolButton('undo', 'Undo', () => canvas.undo());
  const redo = createToolButton('redo', 'Redo', () => canvas.redo());
  const clear = createToolButton('clear', 'Clear', () => canvas.clear());
  const update = (): void => {
    for (const [tool, button] of buttons) button.setAttribute('aria-pressed', String(canvas.currentTool === tool));
    color.value = canvas.strokeColor.slice(0, 7);
    width.value = String(canvas.strokeWidth);
    undo.disabled = !canvas.editor.canUndo;
    redo.disabled = !canvas.editor.canRedo;
    clear.disabled = canvas.drawing.shapes.every(({ locked }) => locked);
  };
  const toolButtons = buttons.length > 1 ? [...buttons.map(([, button]) => button), createGap()] : [];
  const bar = createToolbar('Drawing tools', [...toolButtons, color, width, createGap(), undo, redo, clear, ...more]);
  canvas.onSettings(update, signal);
  // Whether a step can be undone is known only after it was written.
  signal.addEventListener(
    'abort',
    canvas.drawing.onChange(() => queueMicrotask(update)),
  );
  update();
  return bar;
}

function createField(name: string, type: 'color' | 'range', onInput: () => void): HTMLInputElement {
  const input = document.createElement('input');
  input.type = type;
  input.title = name;
  input.setAttribute('aria-label', name);
  input.addEventListener('input', onInput);
  return input;
}
