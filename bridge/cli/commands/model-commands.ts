import { type Command, Option } from 'commander';
import { addExamples } from '../examples.ts';
import { addGatewayCommand, createAuthTokenOption, addConnectionOptions } from '../cli-options.ts';

/** Options that make a command act on a gateway's computer instead of this one. */
const GATEWAY_OPTIONS = ['url', 'port', 'token', 'authToken', 'password'];

const hasGatewayOptions = (command: Command): boolean => GATEWAY_OPTIONS.some((name) => command.getOptionValueSource(name) === 'cli');

/** Adds a command that works without a gateway, and uses one if its options name one. */
const addModelCommand = (models: Command, name: string, description: string): Command =>
  addConnectionOptions(models.command(name), { timeout: 10_000 })
    .description(description)
    .addOption(createAuthTokenOption())
    .option('--json', 'Print JSON')
    .addHelpText('after', '\nWithout --url, --port, --token or --password, this works on this computer and needs no gateway.');

/** `perch models …`. */
export function addModelCommands(program: Command): void {
  const models = program.command('models').description('Manage local models and their runtime');
  const download = addModelCommand(models, 'download', 'Download a model, or resume an interrupted download')
    .argument('<repo>', 'Repository on the hub: <owner>/<name>')
    .option('--filename <file>', 'File to download (default: the best quantisation for this computer)')
    .addOption(new Option('--backend <backend>', 'Runtime for the model').choices(['gguf', 'mlx']).default('gguf'))
    .addOption(new Option('--source <hub>', 'Hub to download from').choices(['huggingface', 'modelscope']).default('huggingface'))
    .action(async (repo, options, command: Command) => {
      if (hasGatewayOptions(command)) await (await import('../gateway-models.ts')).downloadOnGateway(repo, options);
      else await (await import('../models-actions.ts')).downloadModel(repo, options);
    });
  addExamples(download, ['models download Qwen/Qwen3-0.6B-GGUF']);
  addModelCommand(models, 'local', 'List local models').action(async (options, command: Command) => {
    if (hasGatewayOptions(command)) await (await import('../gateway-models.ts')).printGatewayModels(options);
    else await (await import('../models-actions.ts')).printLocalModels(options);
  });
  addModelCommand(models, 'delete-local', 'Delete a local model. If it is the default model, the default is cleared')
    .argument('<model>', 'Model ID, as shown by `models local`: <owner>/<name>/<file>')
    .action(async (model, options, command: Command) => {
      if (hasGatewayOptions(command)) await (await import('../gateway-models.ts')).deleteOnGateway(model, options);
      else await (await import('../models-actions.ts')).deleteLocalModel(model, options);
    });
  addGatewayCommand(models, 'select', 'Set the default model of the running gateway')
    .argument('<model>', 'Model ID, as shown by `models local`: <owner>/<name>/<file>')
    .action(async (model, options) => (await import('../gateway-models.ts')).selectModel(model, options));
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
