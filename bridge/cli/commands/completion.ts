import { Argument, type Command } from 'commander';

/** `perch completion`. */
export function completionCommands(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes these commands in a shell')
    .addArgument(new Argument('<shell>', 'which one').choices(['bash', 'zsh', 'fish']))
    .action(async (shell) => void process.stdout.write((await import('../completion.ts')).completionScript(program, shell)));
}
