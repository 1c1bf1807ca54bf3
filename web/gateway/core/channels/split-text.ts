/** Where a text is best cut: the last paragraph, line, sentence or word that fits. */
const PLACES = [/\n\n+/g, /\n+/g, /(?<=[.!?…。！？])\s+/g, /\s+/g];
const segments = new Intl.Segmenter();

/** A text in pieces of which none weighs more than `most`; cut where a reader would pause. `weigh`: a piece's length as the platform counts it, never less for more text. */
export function splitText(text: string, most: number, weigh: (piece: string) => number = (piece) => piece.length): string[] {
  const pieces: string[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const piece = weigh(rest) <= most ? rest : beginning(rest, most, weigh);
    pieces.push(piece.trimEnd());
    rest = rest.slice(piece.length).trimStart();
  }
  return pieces;
}

function beginning(text: string, most: number, weigh: (piece: string) => number): string {
  // No platform counts a unit for less than half, so what fits lies within this.
  const near = text.slice(0, most * 2 + 100);
  for (const place of PLACES) {
    let best = 0;
    for (const match of near.matchAll(place)) {
      if (weigh(near.slice(0, match.index)) > most) break;
      best = match.index;
    }
    // A piece of a few words is worse than one that ends within a paragraph.
    if (best > 0 && weigh(near.slice(0, best)) >= most / 2) return near.slice(0, best);
  }
  let end = 0;
  for (const { segment, index } of segments.segment(near)) {
    if (weigh(near.slice(0, index + segment.length)) > most) break;
    end = index + segment.length;
  }
  // One character that is made of very many.
  return near.slice(0, Math.max(1, end));
}
