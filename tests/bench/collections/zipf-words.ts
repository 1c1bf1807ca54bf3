const SYLLABLES = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru sta pre tri klo spu'.split(' ');
const VOCABULARY = 50_000;

/** Draws words with the distribution of a natural language: few are frequent, most are rare. The same words for the same seed. */
export function createZipfWords(seed: number): () => string {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    // The logarithm of the rank is even: Zipf's law.
    const rank = Math.min(VOCABULARY - 1, Math.floor(Math.exp((state / 2 ** 32) * Math.log(VOCABULARY))) - 1);
    let word = '';
    for (let rest = rank + 30; rest > 0; rest = Math.floor(rest / SYLLABLES.length)) word += SYLLABLES[rest % SYLLABLES.length] ?? '';
    return word;
  };
}
