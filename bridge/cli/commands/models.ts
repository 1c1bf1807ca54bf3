import { type Command, Option } from 'commander';
import { addExamples } from '../examples.ts';
import { portOption } from '../options.ts';

/** `perch models …` (interface document 2, section 4.1). */
export function modelCommands(program: Command): void {
  const models = program.command('models').description('Manage local models and their runtime');
  const download = models
    .command('download')
    .argument('<repo>', 'Repository on the hub: <owner>/<name>')
    .description('Download a model, or resume an interrupted download')
    .option('--filename <file>', 'File to download (default: the best quantisation for this computer)')
    .addOption(new Option('--backend <backend>', 'Runtime for the model').choices(['gguf', 'mlx']).default('gguf'))
    .addOption(new Option('--source <hub>', 'Hub to download from').choices(['huggingface', 'modelscope']).default('huggingface'))
    .option('--json', 'Print JSON')
    .action(async (repo, options) => (await import('../models.ts')).downloadModel(repo, options));
  addExamples(download, ['models download Qwen/Qwen3-0.6B-GGUF']);
  models
    .command('local')
    .description('List local models')
    .option('--json', 'Print JSON')
    .action(async (options) => (await import('../models.ts')).printLocal(options));
  models
    .command('delete-local')
    .argument('<model>', 'Model ID, as shown by `models local`: <owner>/<name>/<file>')
    .description('Delete a local model')
    .option('--json', 'Print JSON')
    .action(async (model, options) => (await import('../models.ts')).deleteLocal(model, options));
  models
    .command('select')
    .argument('<model>', 'Model ID, as shown by `models local`: <owner>/<name>/<file>')
    .description('Set the default model of the running gateway')
    .addOption(portOption({ free: false }))
    .option('--auth-token <token>', 'Gateway token, if you started the gateway with one')
    .option('--password <password>', 'Gateway password, if set. Visible in the process list: prefer PERCH_PASSWORD')
    .option('--json', 'Print JSON')
    .action(async (model, options) => (await import('../models.ts')).selectModel(model, options));
  const runtime = models.command('runtime').description('Manage the runtime for GGUF models');
  runtime
    .command('install')
    .description('Install or update the runtime')
    .option('--yes', 'Skip the confirmation')
    .action(async (options) => (await import('../model-runtime.ts')).installRuntime(options));
  runtime
    .command('uninstall')
    .description('Remove the runtime. Models are kept')
    .action(async () => (await import('../model-runtime.ts')).uninstallRuntime());
  runtime
    .command('status')
    .description('Show whether the runtime is installed')
    .option('--json', 'Print JSON')
    .action(async (options) => (await import('../model-runtime.ts')).printRuntime(options));
}
