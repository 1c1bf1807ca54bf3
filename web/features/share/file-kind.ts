/** Decides where an incoming file belongs. An SVG image cannot be drawn on: it is attached to a message. */
export function getFileKind({ name, type }: { name: string; type: string }): 'drawing' | 'chat' | 'other' {
  if (/\.jsonl$/i.test(name)) return 'chat';
  if (type.startsWith('image/') && !type.includes('svg')) return 'drawing';
  return /\.perch-drawing\.json$/i.test(name) ? 'drawing' : 'other';
}
