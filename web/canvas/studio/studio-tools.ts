/** Pointer tools of the studio. */
export const STUDIO_TOOLS = [
  'select',
  'hand',
  'pen',
  'highlighter',
  'rect',
  'ellipse',
  'line',
  'arrow',
  'polygon',
  'star',
  'text',
  'marker',
  'callout',
  'redact',
  'blur',
  'erase',
  'crop',
] as const;
export type StudioTool = (typeof STUDIO_TOOLS)[number];

/** Name and key of each tool. */
export const TOOL_NAMES: Readonly<Record<StudioTool, { readonly name: string; readonly key: string }>> = {
  select: { name: 'Select', key: 'V' },
  hand: { name: 'Hand', key: 'H' },
  pen: { name: 'Pen', key: 'P' },
  highlighter: { name: 'Highlighter', key: 'I' },
  rect: { name: 'Rectangle', key: 'R' },
  ellipse: { name: 'Ellipse', key: 'O' },
  line: { name: 'Line', key: 'L' },
  arrow: { name: 'Arrow', key: 'A' },
  polygon: { name: 'Polygon', key: 'Y' },
  star: { name: 'Star', key: 'S' },
  text: { name: 'Text', key: 'T' },
  marker: { name: 'Numbered marker', key: 'N' },
  callout: { name: 'Callout', key: 'B' },
  redact: { name: 'Redact', key: 'X' },
  blur: { name: 'Blur (cosmetic)', key: 'U' },
  erase: { name: 'Eraser', key: 'E' },
  crop: { name: 'Crop', key: 'C' },
};
