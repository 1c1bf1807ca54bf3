import type { Command } from 'commander';
import { addGatewayCommand } from '../cli-options.ts';
import { addExamples } from '../examples.ts';

/** `perch hooks …`: webhooks of the running gateway. */
export function addHookCommands(program: Command): void {
  const group = program.command('hooks').description('Manage calls from other services, and events for them');
  const add = (name: string, description: string): Command => addGatewayCommand(group, name, description);

  add('list', 'List hooks').action(async (options) => (await import('../hooks-actions.ts')).listHooks(options));
  const create = add('add', 'Create a hook and print its address and secret')
    .argument('<name>', 'Name: lower-case letters, digits and hyphens')
    .option('--preset <preset>', 'For calls: json, standard, github, gitlab, stripe or sentry', 'json')
    .option('--agent <agent>', 'Agent that gets the text of a call', 'main')
    .option('--template <text>', 'Text with {{message}}, {{event}}, {{body}} or JSON paths such as {{$.issue.title}}', '{{message}}')
    .option('--secret <secret>', 'Secret that the platform shows (Stripe, Sentry)')
    .option('--send-to <url>', 'Send events to this address instead of receiving calls')
    .option('--event <type...>', 'Types of events to accept or to send')
    .option('--with-text', 'Include the texts of messages and replies in events')
    .option('--allow-private', 'Allow an address in your own network')
    .action(async (name, options) => (await import('../hooks-actions.ts')).addHook(name, options));
  addExamples(create, [
    'hooks add issues --preset github --template "Triage this issue: {{message}}"',
    'hooks add alerts --send-to https://example.com/perch --event run.failed job.failed',
  ]);
  add('remove', 'Remove a hook with its calls')
    .argument('<name>', 'Name of the hook')
    .action(async (name, options) => (await import('../hooks-actions.ts')).removeHook(name, options));
  add('test', 'Handle a sample call, or send a test event')
    .argument('<name>', 'Name of the hook')
    .action(async (name, options) => (await import('../hooks-actions.ts')).testHook(name, options));
}
