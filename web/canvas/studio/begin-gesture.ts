import type { BeginGesture } from './tool-context.ts';
import { DRAG_SHAPES } from './draw-gestures.ts';
import { beginCrop, beginErase, beginHand, beginMarker, beginText } from './press-gestures.ts';
import { beginSelect } from './select-gesture.ts';
import type { StudioTool } from './studio-tools.ts';

const GESTURES: Readonly<Record<Exclude<StudioTool, 'polygon'>, BeginGesture>> = {
  ...DRAG_SHAPES,
  select: beginSelect,
  hand: beginHand,
  text: beginText,
  marker: beginMarker,
  erase: beginErase,
  crop: beginCrop,
};

/** Begins the gesture of a tool on press. */
export const getBeginGesture = (tool: Exclude<StudioTool, 'polygon'>): BeginGesture => GESTURES[tool];
