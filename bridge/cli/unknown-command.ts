import type { Command } from 'commander';
import { toCommandLine } from '../command-line.ts';

/** Maximum length of an unknown command's name in messages. */
const MAX_NAME_CHARS = 60;

/**
 * Returns an error message for a command that a group does not have: the group would pass it to its default command, which would report an
 * unexpected argument. Undefined if there is no such error. `words`: arguments after the program's name.
 */
export function describeUnknownCommand(program: Command, words: readonly string[]): string | undefined {
  const path: string[] = [];
  let group = program;
  for (const word of words) {
    if (word.startsWith('-') || word === 'help' || group.commands.length === 0) return undefined;
    const found = group.commands.find((command) => command.name() === word);
    if (!found)
      return `Unknown command "${[...path, word.slice(0, MAX_NAME_CHARS)].join(' ')}". ${suggestCommand(program, { path, word })}`;
    path.push(word);
    group = found;
  }
  return undefined;
}

/** Returns the error message for a missing command after these words. */
export function describeMissingCommand(words: readonly string[]): string {
  const options = words.findIndex((word) => word.startsWith('-'));
  const path = options < 0 ? words : words.slice(0, options);
  return `Missing command. Run \`${toCommandLine([...path, '--help'].join(' '))}\`.`;
}

function suggestCommand(program: Command, { path, word }: { path: readonly string[]; word: string }): string {
  const suggestions = findCommandPaths(program, word).map((each) => `\`${toCommandLine(each.join(' '))}\``);
  if (suggestions.length > 0 && suggestions.length <= 3) return `Did you mean ${suggestions.join(' or ')}?`;
  return `Run \`${toCommandLine([...path, '--help'].join(' '))}\`.`;
}

/** Finds the paths of commands with a name. */
const findCommandPaths = (group: Command, name: string): string[][] =>
  group.commands.flatMap((command) => [
    ...(command.name() === name ? [[name]] : []),
    ...findCommandPaths(command, name).map((path) => [command.name(), ...path]),
  ]);
