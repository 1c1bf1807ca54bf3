import { type Command, Option } from 'commander';
import { LOG_LEVELS, MAX_LOG_LINES } from '#shared/rpc/log-level.ts';
import { connectionOptions, wholeNumber } from '../options.ts';

const TIMEOUT = { timeout: 10_000 };

/** `perch chat`, `sessions` and `logs`. */
export function talkingCommands(program: Command): void {
  connectionOptions(program.command('chat'), TIMEOUT)
    .argument('[message...]', 'without one, it is read from a pipe (- says so), or asked for on a terminal')
    .description('talk with an agent; the reply is printed as it comes')
    .option('--session <id>', 'the session', 'main')
    .option('--agent <id>', 'the agent', 'main')
    .option('--model <model>', 'another model than the agent’s')
    .option('--json', 'print the whole reply as JSON')
    .action(async (message, options) => (await import('../chat.ts')).chat(message, options));

  const sessions = program.command('sessions').description('what has been talked about');
  connectionOptions(sessions.command('list', { isDefault: true }), TIMEOUT)
    .description('list the sessions, the most recently used first')
    .option('--agent <id>', 'only those of one agent')
    .addOption(new Option('--limit <number>', 'how many').default(50).argParser((text) => wholeNumber(text, 1, 10_000)))
    .option('--json', 'print JSON')
    .action(async (options) => (await import('../sessions.ts')).printSessions(options));
  connectionOptions(sessions.command('export'), { timeout: 30_000 })
    .argument('<key>', 'as the list shows it, such as main/main')
    .description('write a session as text')
    .addOption(new Option('--format <format>', 'with all branches (jsonl), or to be read').choices(['jsonl', 'markdown']).default('jsonl'))
    .option('--output <file>', 'a new file; default: standard output')
    .action(async (key, options) => (await import('../sessions.ts')).exportSession(key, options));

  connectionOptions(program.command('logs'), TIMEOUT)
    .description('print the newest lines of the log')
    .option('-f, --follow', 'and those that come, until Ctrl+C')
    .addOption(new Option('-n, --lines <number>', 'how many').default(200).argParser((text) => wholeNumber(text, 1, MAX_LOG_LINES)))
    .addOption(new Option('--level <level>', 'only lines of this level and graver ones').choices(LOG_LEVELS))
    .option('--json', 'print JSON, one line each')
    .action(async (options) => (await import('../logs.ts')).printLogs(options));
}
