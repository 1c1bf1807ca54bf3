// Run by setup: finds a browser or installs one, asking first with `--ask`, and prints its path.
import { ensureBrowser } from './install.ts';

try {
  const say = (line: string): void => console.error(line);
  process.stdout.write(await ensureBrowser({ interactive: process.argv.includes('--ask'), say }));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
