import { Argument, type Command } from 'commander';

/** `perch completion`. */
export function addCompletionCommands(program: Command): void {
  program
    .command('completion')
    .description('Print a shell completion script')
    .addArgument(new Argument('<shell>', 'Shell to complete commands in').choices(['bash', 'zsh', 'fish']))
    .action(async (shell) => void process.stdout.write((await import('../completion-script.ts')).createCompletionScript(program, shell)));
}
