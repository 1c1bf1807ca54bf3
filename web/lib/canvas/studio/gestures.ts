import type { Begin } from './bench.ts';
import { DRAWN } from './draw.ts';
import { beginCrop, beginErase, beginHand, beginMarker, beginText } from './press.ts';
import { beginSelect } from './select.ts';
import type { StudioTool } from './tools.ts';

const BEGINS: Readonly<Record<Exclude<StudioTool, 'polygon'>, Begin>> = {
  ...DRAWN,
  select: beginSelect,
  hand: beginHand,
  text: beginText,
  marker: beginMarker,
  erase: beginErase,
  crop: beginCrop,
};

/** Begins the gesture of a tool on press. */
export const beginWith = (tool: Exclude<StudioTool, 'polygon'>): Begin => BEGINS[tool];
