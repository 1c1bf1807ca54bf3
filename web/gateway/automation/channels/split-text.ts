/** Preferred places to split a text, best first: paragraph, line, sentence, word. */
const BREAKS = [/\n\n+/g, /\n+/g, /(?<=[.!?…。！？])\s+/g, /\s+/g];
const segments = new Intl.Segmenter();

/**
 * Splits a text into pieces of a weight of at most `maxWeight`, at places where a reader would pause. `weigh`: length of a piece as the platform
 * counts it; never decreases with more text.
 */
export function splitText(text: string, maxWeight: number, computeWeight: (piece: string) => number = (piece) => piece.length): string[] {
  const pieces: string[] = [];
  let remaining = text.trim();
  while (remaining !== '') {
    const piece = computeWeight(remaining) <= maxWeight ? remaining : cutFirstPiece(remaining, maxWeight, computeWeight);
    pieces.push(piece.trimEnd());
    remaining = remaining.slice(piece.length).trimStart();
  }
  return pieces;
}

function cutFirstPiece(text: string, maxWeight: number, computeWeight: (piece: string) => number): string {
  // No platform counts a UTF-16 unit as less than half, so the piece lies within this range.
  const head = text.slice(0, maxWeight * 2 + 100);
  for (const pattern of BREAKS) {
    let best = 0;
    for (const match of head.matchAll(pattern)) {
      if (computeWeight(head.slice(0, match.index)) > maxWeight) break;
      best = match.index;
    }
    // A very short piece is worse than a split within a paragraph.
    if (best > 0 && computeWeight(head.slice(0, best)) >= maxWeight / 2) return head.slice(0, best);
  }
  let end = 0;
  for (const { segment, index } of segments.segment(head)) {
    if (computeWeight(head.slice(0, index + segment.length)) > maxWeight) break;
    end = index + segment.length;
  }
  // A single character of very many code points.
  return head.slice(0, Math.max(1, end));
}
