import type { Command } from 'commander';
import { addGatewayCommand, parseInteger } from '../cli-options.ts';
import { addExamples } from '../examples.ts';

/** `perch collections …`: collections of documents in the running gateway. */
export function addCollectionCommands(program: Command): void {
  const group = program.command('collections').description('Manage collections of documents');
  const add = (name: string, description: string): Command => addGatewayCommand(group, name, description);

  add('list', 'List collections').action(async (options) => (await import('../collections-actions.ts')).listCollections(options));
  const create = add('create', 'Create a collection and print its ID')
    .argument('<name>', 'Name of the collection')
    .option('--folder <path...>', 'Folders on the computer of the bridge')
    .option('--repository <url...>', 'Git repositories')
    .option('--web <url...>', 'Web pages')
    .action(async (name, options) => (await import('../collections-actions.ts')).createCollection(name, options));
  addExamples(create, ['collections create Papers --folder ~/papers', 'collections create Perch --web https://example.com/']);
  add('add', 'Add files to a collection')
    .argument('<collection>', 'ID or name')
    .argument('<file...>', 'Files to add')
    .action(async (collection, files, options) => (await import('../collections-actions.ts')).addFiles(collection, files, options));
  add('search', 'Search collections')
    .argument('<query>', 'Words, or a question')
    .option('--collection <collection>', 'Search only this one (ID or name)')
    .option('--limit <number>', 'Number of passages', (text) => parseInteger(text, 1, 50), 5)
    .action(async (query, options) => (await import('../collections-actions.ts')).searchCollections(query, options));
  add('remove', 'Remove a collection with its index; files on disk are kept')
    .argument('<collection>', 'ID or name')
    .action(async (collection, options) => (await import('../collections-actions.ts')).removeCollection(collection, options));
}
