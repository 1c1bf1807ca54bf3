/** A command that only a shell could run as it is written. */
export class ShellRequiredError extends Error {}

/** Characters that a shell gives a meaning to, unless they are quoted. */
const SHELL_MEANINGS: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...'|&;<>()\n'].map((char) => [char, 'a shell operator'])),
  ...Object.fromEntries([...'*?['].map((char) => [char, 'a pattern for file names'])),
  ...Object.fromEntries([...'$`'].map((char) => [char, 'a shell expansion'])),
};

/**
 * Splits a command into words as a shell does: at white space, with '…', "…" and \. A backslash before a letter or digit is kept, for
 * Windows paths. Throws `ShellRequiredError` for unquoted operators, patterns and expansions, and for an unclosed quote.
 */
export function splitWords(command: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  const text = command.trim();
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    const next = text[at + 1] ?? '';
    if (quote === "'") {
      if (char === quote) quote = '';
      else word += char;
    } else if (quote === '"') {
      if (char === quote) quote = '';
      else if (char === '\\' && /["\\$`]/.test(next)) word += text[++at] ?? '';
      else if (/[$`]/.test(char)) throw createShellRequiredError(char);
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (char === '\\' && next !== '' && !/[\w\n]/.test(next)) {
      word = (word ?? '') + (text[++at] ?? '');
    } else if (char in SHELL_MEANINGS || (word === undefined && (char === '~' || char === '#'))) {
      throw createShellRequiredError(char);
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  if (quote !== '') throw new ShellRequiredError(`The command has a ${quote} that isn’t closed.`);
  if (word !== undefined) words.push(word);
  return words;
}

function createShellRequiredError(char: string): ShellRequiredError {
  const charName = char === '\n' ? 'A line break' : char;
  const meaning = SHELL_MEANINGS[char] ?? 'a shell expansion';
  return new ShellRequiredError(
    `${charName} is ${meaning}, and commands run without a shell. Put it in single quotes, or run a shell, such as sh with the arguments -c and the command.`,
  );
}
