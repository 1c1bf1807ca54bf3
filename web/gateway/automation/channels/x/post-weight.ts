import { splitText } from '../split-text.ts';

/** Maximum weight of a post (https://docs.x.com/fundamentals/counting-characters). */
const MAX_WEIGHT = 280;
/** Maximum number of posts in a thread; the rest is cut off. */
const MAX_POSTS = 10;
const LINK_WEIGHT = 23;

/** Ranges of characters with a weight of 1; all others have 2. */
const LIGHT_RANGES = [
  [0, 4351],
  [8192, 8205],
  [8208, 8223],
  [8242, 8247],
] as const;
const EMOJI = /^\p{RGI_Emoji}$/v;
/** Text that may become a link, with or without its protocol. */
const LINK = /(?:https?:\/\/)?(?:[\p{L}\p{N}_-]+\.)+\p{L}{2,}(?::\d+)?(?:[/?#][^\s]*)?/giu;
/** Text that certainly becomes a link, whose length does not matter. */
const CERTAIN_LINK = /^https?:\/\/(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|info|dev|app|wiki|[a-z]{2})(?::\d+)?(?:[/?#]|$)/i;
const graphemes = new Intl.Segmenter();

/** Length of a text as X counts it, or more; never less. */
export function computeWeight(text: string): number {
  const plain = text.normalize('NFC');
  let weight = 0;
  let end = 0;
  for (const match of plain.matchAll(LINK)) {
    const [link] = match;
    weight += computePlainWeight(plain.slice(end, match.index));
    weight += CERTAIN_LINK.test(link) ? LINK_WEIGHT : Math.max(LINK_WEIGHT, computePlainWeight(link));
    end = match.index + link.length;
  }
  return weight + computePlainWeight(plain.slice(end));
}

function computePlainWeight(text: string): number {
  let weight = 0;
  for (const { segment } of graphemes.segment(text)) {
    if (EMOJI.test(segment)) weight += 2;
    else for (const character of segment) weight += isLight(character.codePointAt(0) ?? 0) ? 1 : 2;
  }
  return weight;
}

const isLight = (code: number): boolean => LIGHT_RANGES.some(([from, to]) => code >= from && code <= to);

/** Splits a text into a thread of posts, numbered if there are several. */
export function splitThread(text: string): string[] {
  const plain = text.normalize('NFC').trim();
  if (plain === '') return [];
  if (computeWeight(plain) <= MAX_WEIGHT) return [plain];
  const maxWeight = MAX_WEIGHT - computeWeight(` (${MAX_POSTS}/${MAX_POSTS})`) - computeWeight('…');
  const pieces = splitText(plain, maxWeight, computeWeight);
  const posts = pieces.slice(0, MAX_POSTS);
  return posts.map((piece, index) => {
    const isCut = index === MAX_POSTS - 1 && pieces.length > MAX_POSTS;
    return `${piece}${isCut ? '…' : ''} (${index + 1}/${posts.length})`;
  });
}
