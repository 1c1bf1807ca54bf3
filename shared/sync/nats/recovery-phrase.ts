import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { fromBase64, toBase64url } from '../../base64.ts';

/** The vault's key (256 bit, base64url) as 24 words, of which the last holds a checksum (BIP-39, English). */
export const toRecoveryPhrase = (vaultKey: string): string => entropyToMnemonic(fromBase64(vaultKey), wordlist);

/** Derives the key of a phrase, ignoring spacing and case. Throws an error that names the position of a mistake, never a word. */
export function parseRecoveryPhrase(phrase: string): string {
  const words = phrase
    .normalize('NFKD')
    .toLowerCase()
    .split(/[\s,.;:\d]+/)
    .filter(Boolean);
  if (words.length !== 24) throw new Error(`A recovery phrase has 24 words, but this one has ${words.length}.`);
  const unknown = words.findIndex((word) => !wordlist.includes(word));
  if (unknown >= 0) throw new Error(`Word ${unknown + 1} of the recovery phrase is unknown. Check its spelling.`);
  try {
    return toBase64url(mnemonicToEntropy(words.join(' '), wordlist));
  } catch {
    throw new Error('The recovery phrase is not valid. Check for wrong or swapped words.');
  }
}
