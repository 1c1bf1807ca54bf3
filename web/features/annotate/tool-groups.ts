import type { StudioTool } from '#canvas/studio/studio-tools.ts';

/** Groups of the toolbar, in its order. A group shows its last used tool; the first one at first. */
export const TOOL_GROUPS: readonly (readonly [StudioTool, ...StudioTool[]])[] = [
  ['select'],
  ['hand'],
  ['pen', 'highlighter'],
  ['rect', 'ellipse', 'polygon', 'star', 'callout'],
  ['arrow', 'line'],
  ['text'],
  ['marker'],
  ['redact', 'blur'],
  ['crop'],
  ['erase'],
];

/** Tools after which the toolbar has a line. */
export const TOOLS_BEFORE_LINE: ReadonlySet<StudioTool> = new Set(['hand', 'marker']);
