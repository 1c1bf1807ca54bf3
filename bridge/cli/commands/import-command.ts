import { type Command, Option } from 'commander';
import { addExamples } from '../examples.ts';
import { addConnectionOptions } from '../cli-options.ts';

/** `perch import`. */
export function addImportCommand(program: Command): void {
  const command = addConnectionOptions(program.command('import'), { timeout: 60_000 })
    .argument('<files...>', 'Export files, zip files or folders')
    .description('Import chats, memories and notes from other products')
    .addOption(new Option('--as <kind>', 'What to import').choices(['chats', 'memories', 'wiki']).default('chats'))
    .option('--agent <id>', 'Agent that gets them', 'main')
    .option('--json', 'Print the result as JSON')
    .action(async (files, options) => (await import('../import-actions.ts')).importFiles(files, options));
  addExamples(command, [
    'import chatgpt-export.zip',
    'import ~/.openclaw',
    'import --as memories memories.txt',
    'import --as wiki ~/notes',
  ]);
}
