import { type Command, Option } from 'commander';
import { LOG_LEVELS, MAX_LOG_LINES } from '#shared/rpc/log-level.ts';
import { addExamples } from '../examples.ts';
import { addConnectionOptions, parseInteger } from '../cli-options.ts';

const CHAT_TIMEOUT_MS = { timeout: 10_000 };

/** `perch chat`, `sessions` and `logs`. */
export function addChatCommands(program: Command): void {
  const chat = addConnectionOptions(program.command('chat'), CHAT_TIMEOUT_MS)
    .argument('[message...]', 'Message to send, or - for standard input (default: start an interactive chat)')
    .description('Chat with an agent')
    .option('--session <id>', 'Chat to use', 'main')
    .option('--agent <id>', 'Agent to use', 'main')
    .option('--model <model>', 'Model to use instead of the agent’s')
    .option('--json', 'Print the reply as JSON')
    .option('--raw', 'Print control characters unchanged')
    .action(async (message, options) => (await import('../chat-actions.ts')).chat(message, options));
  addExamples(chat, ['chat', 'chat "Plan my week"', 'git diff | $ chat -']);

  const sessions = program.command('sessions').description('List and export chats');
  addConnectionOptions(sessions.command('list', { isDefault: true }), CHAT_TIMEOUT_MS)
    .description('List chats, most recent first')
    .option('--agent <id>', 'Only show chats of this agent')
    .addOption(new Option('--limit <number>', 'Maximum number of chats').default(50).argParser((text) => parseInteger(text, 1, 10_000)))
    .option('--json', 'Print JSON')
    .action(async (options) => (await import('../sessions-actions.ts')).printSessions(options));
  const exporting = addConnectionOptions(sessions.command('export'), { timeout: 30_000 })
    .argument('<key>', 'Chat key, as shown by `sessions`, such as main/main')
    .description('Export a chat')
    .addOption(new Option('--format <format>', 'File format. jsonl includes all branches').choices(['jsonl', 'markdown']).default('jsonl'))
    .option('--output <file>', 'New file to write (default: standard output)')
    .option('--raw', 'Print control characters unchanged')
    .action(async (key, options) => (await import('../sessions-actions.ts')).exportSession(key, options));
  addExamples(exporting, ['sessions export main/main --format markdown --output chat.md']);

  addConnectionOptions(program.command('logs'), CHAT_TIMEOUT_MS)
    .description('Show recent log entries')
    .option('-f, --follow', 'Keep printing new entries until Ctrl+C')
    .addOption(
      new Option('-n, --lines <number>', 'Number of entries').default(200).argParser((text) => parseInteger(text, 1, MAX_LOG_LINES)),
    )
    .addOption(new Option('--level <level>', 'Minimum level').choices(LOG_LEVELS))
    .option('--json', 'Print one JSON object per line')
    .action(async (options) => (await import('../logs-actions.ts')).printLogs(options));
}
