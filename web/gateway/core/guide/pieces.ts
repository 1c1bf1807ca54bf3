/** Words in one piece of streamed text. */
const WORDS = 3;

/** Cuts a text into pieces of a few words; joined they are the text again. */
export function pieces(text: string): string[] {
  const words = text.match(/\s*\S+|\s+$/g) ?? [];
  const out: string[] = [];
  for (let at = 0; at < words.length; at += WORDS) out.push(words.slice(at, at + WORDS).join(''));
  return out;
}
