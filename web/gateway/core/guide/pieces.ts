/** Words in one piece of streamed text, and pieces at the most: a long text does not take minutes to come. */
const WORDS = 3;
const MOST = 400;

/** Cuts a text into pieces of a few words; joined they are the text again. */
export function pieces(text: string): string[] {
  const words = text.match(/\s*\S+|\s+$/g) ?? [];
  const size = Math.max(WORDS, Math.ceil(words.length / MOST));
  const out: string[] = [];
  for (let at = 0; at < words.length; at += size) out.push(words.slice(at, at + size).join(''));
  return out;
}
