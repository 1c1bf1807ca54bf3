import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { parseRecoveryPhrase, toRecoveryPhrase } from './recovery-phrase.ts';

verifies('vault.cluster/phrase', 'any key comes back from its words, however they are written down', () => {
  for (let round = 0; round < 50; round++) {
    const key = randomBytes(32).toString('base64url');
    const words = toRecoveryPhrase(key).split(' ');
    expect(words).toHaveLength(24);
    expect(parseRecoveryPhrase(words.join(' '))).toBe(key);
    expect(parseRecoveryPhrase(`\n${words.map((word, index) => `${index + 1}. ${word.toUpperCase()}`).join('\n')} `)).toBe(key);
  }
});

verifies(
  'vault.cluster/phrase',
  'distinguishes a missing word, an unknown word and swapped words, and repeats no word of the phrase',
  () => {
    // The words of 32 zero bytes (BIP-39, test vectors).
    const words = [...Array.from({ length: 23 }, () => 'abandon'), 'art'];
    expect(parseRecoveryPhrase(words.join(' '))).toBe(Buffer.alloc(32).toString('base64url'));
    expect(() => parseRecoveryPhrase(words.slice(1).join(' '))).toThrow('24 words, but this one has 23');
    expect(() => parseRecoveryPhrase(words.with(2, 'hunterx').join(' '))).toThrow(/^Word 3 of(?!.*hunter)/);
    expect(() => parseRecoveryPhrase(words.with(2, 'art').join(' '))).toThrow('wrong or swapped words');
  },
);
