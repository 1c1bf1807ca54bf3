import type { Edge } from '#shared/canvas/arrange.ts';
import type { Move } from '#shared/canvas/editor.ts';
import type { Studio } from '../studio.ts';
import { STUDIO_TOOLS, TOOL_NAMES, type StudioTool } from './studio-tools.ts';
import { ZOOM_RANGE } from './studio-view-port.ts';

const TOOL_BY_KEY = new Map<string, StudioTool>(STUDIO_TOOLS.map((tool) => [TOOL_NAMES[tool].key, tool]));
const ARROWS: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['ArrowLeft', [-1, 0]],
  ['ArrowRight', [1, 0]],
  ['ArrowUp', [0, -1]],
  ['ArrowDown', [0, 1]],
]);

/** Keys that align an edge. */
const ALIGN_KEYS: ReadonlyMap<string, Edge> = new Map([
  ['ArrowLeft', 'left'],
  ['ArrowRight', 'right'],
  ['ArrowUp', 'top'],
  ['ArrowDown', 'bottom'],
]);

/** Letter of a key on a Latin keyboard, for any keyboard layout. */
const getLatinLetter = ({ key, code }: KeyboardEvent): string =>
  /^[a-z]$/i.test(key) ? key.toUpperCase() : key.length === 1 && key > '~' && code.startsWith('Key') ? code.slice(3) : '';

/** Runs the command of a key pressed with Mod. */
function runCommand(studio: Studio, event: KeyboardEvent): boolean {
  const { shiftKey: shift, altKey: alt, key, code } = event;
  const order = (move: Move): true => (studio.order(move), true);
  if (alt) return false;
  switch (getLatinLetter(event)) {
    case 'Z':
      return (shift ? studio.redo() : studio.undo(), true);
    case 'Y':
      return !shift && (studio.redo(), true);
    case 'D':
      return !shift && (studio.duplicate(), true);
    case 'A':
      return !shift && (studio.selectAll(), true);
  }
  if (code === 'BracketRight') return order(shift ? 'front' : 'forward');
  if (code === 'BracketLeft') return order(shift ? 'back' : 'backward');
  const edge = shift ? ALIGN_KEYS.get(key) : undefined;
  if (edge) return (studio.align(edge), true);
  if (key === '+' || key === '=') return (studio.zoomTo(studio.zoom * ZOOM_RANGE.step), true);
  if (key === '-' || key === '_') return (studio.zoomTo(studio.zoom / ZOOM_RANGE.step), true);
  if (key === '0') return (studio.zoomTo(1), true);
  return false;
}

/** Arrow keys move the selection or the crop frame, and enlarge it with Alt. With the hand tool they pan. */
function handleArrow(studio: Studio, { key, shiftKey, altKey }: KeyboardEvent): boolean {
  const by = ARROWS.get(key);
  if (!by) return false;
  const factor = shiftKey ? 10 : 1;
  const [dx, dy] = [by[0] * factor, by[1] * factor];
  if (studio.tool === 'hand') return (studio.pan(-dx * 40, -dy * 40), true);
  if (studio.tool === 'crop') return (studio.nudgeCrop(dx, dy, altKey), true);
  if (studio.tool !== 'select' || studio.selection.length === 0) return false;
  if (altKey) studio.resizeBy(dx, dy);
  else studio.nudge(dx, dy);
  return true;
}

/** Handles a key pressed on the drawing, or unhandled elsewhere in the page. Returns whether it had an effect. */
export function pressKey(studio: Studio, event: KeyboardEvent, onDrawing: boolean): boolean {
  const { key, code, shiftKey: shift, altKey: alt } = event;
  if (event.ctrlKey || event.metaKey) return runCommand(studio, event);
  if (onDrawing) {
    if (handleArrow(studio, event)) return true;
    if (key === 'Tab') return !alt && studio.selectNext(shift ? -1 : 1);
    if (key === 'Enter') return studio.handleEnter();
    if (key === ' ') return studio.startHandTool();
  }
  if (alt) return false;
  if (key === 'Escape') return studio.handleEscape();
  if (key === 'Delete' || key === 'Backspace') return (studio.remove(), true);
  if (code === 'Digit1' && shift) return (studio.fit(), true);
  if (key === ',' || key === '.' || key === '<' || key === '>') {
    if (studio.selection.length === 0) return false;
    return (studio.rotateSelection((key === ',' || key === '<' ? -1 : 1) * (shift ? 1 : 15)), true);
  }
  const letter = getLatinLetter(event);
  if (shift) {
    if (letter === 'H') return (studio.flip('x'), true);
    if (letter === 'V') return (studio.flip('y'), true);
    return false;
  }
  if (letter === 'G') return onDrawing && studio.gripNextEnd();
  const tool = TOOL_BY_KEY.get(letter);
  if (tool === undefined) return false;
  studio.tool = tool;
  return true;
}
