import type { Command, Option } from 'commander';

/**
 * What is wrong where an option stands before the command that it is for, as in `gateway --port 1 status`: a group of commands hands what it does not know to its
 * default command, which would complain of something else. Undefined where nothing is. `words`: the command line behind the program's name.
 */
export function misplaced(program: Command, words: readonly string[]): string | undefined {
  const path: string[] = [];
  let group = program;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') return undefined;
    if (word.startsWith('-')) {
      const next = firstCommand(group, words.slice(at));
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

/** The first of a group's commands among words that begin with options; values of options are none. */
function firstCommand(group: Command, words: readonly string[]): string | undefined {
  const options = group.commands.flatMap(({ options }) => options);
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') return undefined;
    if (!word.startsWith('-')) return group.commands.some((command) => command.name() === word) ? word : undefined;
    if (!word.includes('=') && takesValue(options, word)) at++;
  }
  return undefined;
}

const isCalled = ({ long, short }: Option, word: string): boolean => long === word || short === word;

const isKnown = ({ options }: Command, word: string): boolean =>
  ['-h', '--help'].includes(word) || options.some((option) => isCalled(option, word.split('=', 1)[0] ?? ''));

const takesValue = (options: readonly Option[], word: string): boolean =>
  options.some((option) => isCalled(option, word) && (option.required || option.optional));
