import type { StudioTool } from '#canvas/studio/studio-tools.ts';
import { m } from '#app/i18n/messages.ts';

const TOOL_LABELS: Readonly<Record<StudioTool, () => string>> = {
  select: () => m.studio_tool_select(),
  hand: () => m.studio_tool_hand(),
  pen: () => m.studio_tool_pen(),
  highlighter: () => m.studio_tool_highlighter(),
  rect: () => m.studio_tool_rect(),
  ellipse: () => m.studio_tool_ellipse(),
  line: () => m.studio_tool_line(),
  arrow: () => m.studio_tool_arrow(),
  polygon: () => m.studio_tool_polygon(),
  star: () => m.studio_tool_star(),
  text: () => m.studio_tool_text(),
  marker: () => m.studio_tool_marker(),
  callout: () => m.studio_tool_callout(),
  redact: () => m.studio_tool_redact(),
  blur: () => m.studio_tool_blur(),
  erase: () => m.studio_tool_erase(),
  crop: () => m.studio_tool_crop(),
};

/** Name of a tool of the studio, also in the list of shortcuts. */
export const getToolName = (tool: StudioTool): string => TOOL_LABELS[tool]();
