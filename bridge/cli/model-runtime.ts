import { OptionalPackage } from '../extras/extra.ts';
import { createGgufExtra } from '../extras/gguf-extra.ts';
import { Home } from '../home-directory.ts';
import { ProcessKeeper } from '../processes/process-keeper.ts';
import { isInteractive, confirm } from './prompt.ts';
import { CommandError, toErrorLine } from './command-error.ts';
import { printNote, printLine, printJson, escapeToOneLine } from './terminal-output.ts';

const printWarning = (line: string): void => printNote(escapeToOneLine(line));

/** The GGUF runtime in the home directory. */
export async function createRuntime(): Promise<OptionalPackage> {
  const { dir } = await Home.open({ warn: printWarning });
  return new OptionalPackage(createGgufExtra(), { home: dir, keeper: new ProcessKeeper(printWarning) });
}

/** `perch models runtime install`: asks first on a terminal, unless `--yes` is given. Throws CommandError. */
export async function installRuntime({ yes = false }: { yes?: boolean }): Promise<void> {
  const extra = await createRuntime();
  const { spec, dir } = extra;
  const packageVersion = `${spec.package} ${spec.version}`;
  if ((await extra.state()).state === 'ready') return printLine(`${packageVersion} is already installed in ${dir}`);
  if (!yes && isInteractive() && !(await confirm(`Install ${packageVersion} (${spec.size}) in ${dir}? [y/N] `)))
    throw new CommandError('Cancelled. Nothing was installed.');
  try {
    await extra.install({ report: printWarning });
  } catch (error) {
    throw new CommandError(toErrorLine(error), 1, { cause: error });
  }
  printLine(dir);
}

/** `perch models runtime uninstall`. */
export async function uninstallRuntime(): Promise<void> {
  const extra = await createRuntime();
  if (!(await extra.uninstall())) throw new CommandError(`The runtime is not installed in ${extra.dir}`);
  printLine(`Removed ${extra.dir}`);
}

/** `perch models runtime status`. */
export async function printRuntime({ json }: { json?: boolean }): Promise<void> {
  const extra = await createRuntime();
  const state = await extra.state();
  const { package: name, version } = extra.spec;
  if (json) return printJson({ package: name, wanted: version, ...state });
  if (state.state === 'ready') printLine(`${name} ${version} is installed in ${extra.dir}`);
  else if (state.state === 'outdated') printLine(`${name} ${state.version} is installed. Version ${version} is required.`);
  else if (state.state === 'missing') printLine(`${name} ${version} is not installed`);
  else printLine(`${name} has no build for ${process.platform} on ${process.arch}`);
}
