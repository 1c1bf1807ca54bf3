import type { DrawnCanvas } from './drawn-canvas.ts';
import { gap, toolbar, toolButton } from './toolbar.ts';
import type { Tool } from './tools.ts';

const NAMES: Readonly<Record<Tool, string>> = {
  select: 'Select',
  pen: 'Pen',
  rect: 'Rectangle',
  circle: 'Circle',
  arrow: 'Arrow',
  marker: 'Numbered marker',
  text: 'Text',
};

/** Creates the buttons of a canvas, which show its current state and follow it until the signal aborts. */
export function toolbarOf(
  canvas: DrawnCanvas,
  tools: readonly Tool[],
  { signal, more = [] }: { signal: AbortSignal; more?: readonly HTMLElement[] },
): HTMLElement {
  const buttons = tools.map((tool) => {
    const button = toolButton(tool, NAMES[tool], () => {
      canvas.currentTool = tool;
      canvas.say(`Tool: ${NAMES[tool]}`);
    });
    return [tool, button] as const;
  });
  const color = field('Colour', 'color', () => (canvas.strokeColor = color.value));
  const width = field('Line width', 'range', () => (canvas.strokeWidth = Number(width.value)));
  [width.min, width.max, width.step] = ['1', '32', '1'];
  const undo = toolButton('undo', 'Undo', () => canvas.undo());
  const redo = toolButton('redo', 'Redo', () => canvas.redo());
  const clear = toolButton('clear', 'Clear', () => canvas.clear());
  const show = (): void => {
    for (const [tool, button] of buttons) button.setAttribute('aria-pressed', String(canvas.currentTool === tool));
    color.value = canvas.strokeColor.slice(0, 7);
    width.value = String(canvas.strokeWidth);
    undo.disabled = !canvas.editor.canUndo;
    redo.disabled = !canvas.editor.canRedo;
    clear.disabled = canvas.drawing.shapes.every(({ locked }) => locked);
  };
  const chosen = buttons.length > 1 ? [...buttons.map(([, button]) => button), gap()] : [];
  const bar = toolbar('Drawing tools', [...chosen, color, width, gap(), undo, redo, clear, ...more]);
  canvas.onSettings(show, signal);
  // Whether a step can be undone is known only after it was written.
  signal.addEventListener(
    'abort',
    canvas.drawing.onChange(() => queueMicrotask(show)),
  );
  show();
  return bar;
}

function field(name: string, type: 'color' | 'range', onInput: () => void): HTMLInputElement {
  const input = document.createElement('input');
  input.type = type;
  input.title = name;
  input.setAttribute('aria-label', name);
  input.addEventListener('input', onInput);
  return input;
}
