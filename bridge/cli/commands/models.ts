import { type Command, Option } from 'commander';
import { portOption } from '../options.ts';

/** `perch models …` (interface document 2, section 4.1). */
export function modelCommands(program: Command): void {
  const models = program.command('models').description('models on this machine’s disk, and what runs them');
  models
    .command('download')
    .argument('<repo>', 'as the hub calls it: <owner>/<name>')
    .description('download a model from a hub; one that was cut short goes on where it stopped')
    .option('--filename <file>', 'which of its files; default: the best quantisation that fits this machine')
    .addOption(new Option('--backend <backend>', 'what runs it').choices(['gguf', 'mlx']).default('gguf'))
    .addOption(new Option('--source <hub>', 'where from').choices(['huggingface', 'modelscope']).default('huggingface'))
    .option('--json', 'print JSON')
    .action(async (repo, options) => (await import('../models.ts')).downloadModel(repo, options));
  models
    .command('local')
    .description('list the models that are here')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('../models.ts')).printLocal(options));
  models
    .command('delete-local')
    .argument('<model>', '<owner>/<name>/<file>, as `local` lists it')
    .description('delete a model’s files')
    .option('--json', 'print JSON')
    .action(async (model, options) => (await import('../models.ts')).deleteLocal(model, options));
  models
    .command('select')
    .argument('<model>', '<owner>/<name>/<file>, as `local` lists it')
    .description('make a model the running gateway’s default')
    .addOption(portOption({ free: false }))
    .option('--auth-token <token>', 'the owner’s token, where the gateway was given one')
    .option('--password <password>', 'the owner’s password, where one is set (shows in the process list: PERCH_PASSWORD is better)')
    .option('--json', 'print JSON')
    .action(async (model, options) => (await import('../models.ts')).selectModel(model, options));
  const runtime = models.command('runtime').description('what runs GGUF models: a package of its own, installed on demand');
  runtime
    .command('install')
    .description('install it, or another version of it; asks first on a terminal')
    .option('--yes', 'do not ask')
    .action(async (options) => (await import('../model-runtime.ts')).installRuntime(options));
  runtime
    .command('uninstall')
    .description('remove it; models stay')
    .action(async () => (await import('../model-runtime.ts')).uninstallRuntime());
  runtime
    .command('status')
    .description('whether it is there')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('../model-runtime.ts')).printRuntime(options));
}
