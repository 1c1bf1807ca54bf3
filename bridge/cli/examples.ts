import type { Command } from 'commander';
import { toCommandLine } from '../command-line.ts';

/** Adds examples to a command's help, as they are typed here. `$`: position of the command, if not first. */
export function addExamples(command: Command, lines: readonly string[]): Command {
  const examples = lines.map((line) => `  ${line.includes('$ ') ? line.replace('$ ', toCommandLine('')) : toCommandLine(line)}`);
  return command.addHelpText('after', `\nExamples:\n${examples.join('\n')}`);
}
