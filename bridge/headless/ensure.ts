// Called by setup in steps. `--find` prints the path of the browser that hosts the gateway, or nothing; `--ask` asks whether to install one
// and prints `yes` or `no`; `--install` installs one and prints its path.
import { findHostBrowser } from './find-browser.ts';
import { askToInstall, installBrowser } from './install-browser.ts';

const INSTALL_STEPS: Record<string, () => Promise<string>> = {
  '--find': async () => (await findHostBrowser()) ?? '',
  '--ask': async () => ((await askToInstall()) ? 'yes' : 'no'),
  '--install': () => installBrowser((line) => console.error(line)),
};

try {
  const step = INSTALL_STEPS[process.argv[2] ?? ''];
  if (step === undefined) throw new Error(`Use one of ${Object.keys(INSTALL_STEPS).join(', ')}`);
  process.stdout.write(await step());
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
