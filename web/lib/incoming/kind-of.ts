/** Where a file that comes from outside belongs. A picture of text (SVG) is none that can be drawn on: it goes with a message. */
export function kindOf({ name, type }: { name: string; type: string }): 'drawing' | 'chat' | 'other' {
  if (/\.jsonl$/i.test(name)) return 'chat';
  if (type.startsWith('image/') && !type.includes('svg')) return 'drawing';
  return /\.perch-drawing\.json$/i.test(name) ? 'drawing' : 'other';
}
