import type { Command, Option } from 'commander';

/**
 * Returns an error message for an option before its command, as in `gateway --port 1 status`: a group passes unknown words to its default
 * command, which would report something else. Undefined if there is no such error. `words`: arguments after the program's name.
 */
export function findMisplacedOption(program: Command, words: readonly string[]): string | undefined {
  const path: string[] = [];
  let group = program;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') return undefined;
    if (word.startsWith('-')) {
      const next = findFirstCommand(group, words.slice(at));
      if (next === undefined || isKnown(group, word)) return undefined;
      return `Options of \`${next}\` must come after it: ${[...path, next].join(' ')} ${word} …`;
    }
    const found = group.commands.find((command) => command.name() === word);
    if (!found) return undefined;
    path.push(word);
    group = found;
  }
  return undefined;
}

/** Finds the first of a group's commands among words that begin with options, skipping values of options. */
function findFirstCommand(group: Command, words: readonly string[]): string | undefined {
  const options = group.commands.flatMap(({ options }) => options);
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') return undefined;
    if (!word.startsWith('-')) return group.commands.some((command) => command.name() === word) ? word : undefined;
    if (!word.includes('=') && takesValue(options, word)) at++;
  }
  return undefined;
}

const hasName = ({ long, short }: Option, word: string): boolean => long === word || short === word;

const isKnown = ({ options }: Command, word: string): boolean =>
  ['-h', '--help'].includes(word) || options.some((option) => hasName(option, word.split('=', 1)[0] ?? ''));

const takesValue = (options: readonly Option[], word: string): boolean =>
  options.some((option) => hasName(option, word) && (option.required || option.optional));
