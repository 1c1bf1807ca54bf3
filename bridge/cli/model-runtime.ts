import { Extra } from '../extras/extra.ts';
import { ggufExtra } from '../extras/gguf.ts';
import { Home } from '../home.ts';
import { Keeper } from '../processes/keep.ts';
import { canAsk, isAgreed } from './ask.ts';
import { CommandError, lineOf } from './errors.ts';
import { note, say, sayJson, shownLine } from './output.ts';

const warn = (line: string): void => note(shownLine(line));

/** The GGUF runtime in the home directory. */
export async function runtimeOf(): Promise<Extra> {
  const { dir } = await Home.open({ warn });
  return new Extra(ggufExtra(), { home: dir, keeper: new Keeper(warn) });
}

/** `perch models runtime install`: asks first on a terminal, unless `--yes` is given. Throws CommandError. */
export async function installRuntime({ yes = false }: { yes?: boolean }): Promise<void> {
  const extra = await runtimeOf();
  const { spec, dir } = extra;
  const named = `${spec.package} ${spec.version}`;
  if ((await extra.state()).state === 'ready') return say(`${named} is already installed in ${dir}`);
  if (!yes && canAsk() && !(await isAgreed(`Install ${named} (${spec.size}) in ${dir}? [y/N] `)))
    throw new CommandError('Cancelled. Nothing was installed.');
  try {
    await extra.install({ say: warn });
  } catch (error) {
    throw new CommandError(lineOf(error), 1, { cause: error });
  }
  say(dir);
}

/** `perch models runtime uninstall`. */
export async function uninstallRuntime(): Promise<void> {
  const extra = await runtimeOf();
  if (!(await extra.uninstall())) throw new CommandError(`The runtime is not installed in ${extra.dir}`);
  say(`Removed ${extra.dir}`);
}

/** `perch models runtime status`. */
export async function printRuntime({ json }: { json?: boolean }): Promise<void> {
  const extra = await runtimeOf();
  const state = await extra.state();
  const { package: name, version } = extra.spec;
  if (json) return sayJson({ package: name, wanted: version, ...state });
  if (state.state === 'ready') say(`${name} ${version} is installed in ${extra.dir}`);
  else if (state.state === 'outdated') say(`${name} ${state.version} is installed. Version ${version} is required.`);
  else if (state.state === 'missing') say(`${name} ${version} is not installed`);
  else say(`${name} has no build for ${process.platform} on ${process.arch}`);
}
