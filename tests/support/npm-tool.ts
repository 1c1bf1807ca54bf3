import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_MS = 240_000;

interface NpmTool {
  package: string;
  version: string;
  /** The program that the package installs. */
  program: string;
}

/**
 * Installs a command-line tool that is no dependency of the repository into `.cache`, once, for tests that run it. Resolves with the program's path; undefined, with
 * the reason printed, if it can't be installed here.
 */
export async function installNpmTool({ package: name, version, program }: NpmTool): Promise<string | undefined> {
  const folder = join(import.meta.dirname, `../../.cache/${name.split('/').at(-1) ?? name}-${version}`);
  const path = join(folder, 'node_modules/.bin', program);
  const shell = process.platform === 'win32';
  const checkVersion = (): Promise<string> => run(path, ['--version'], { timeout: 30_000, shell }).then(() => path);
  try {
    return await checkVersion();
  } catch {
    // Not installed yet.
  }
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"private":true}');
    await run('npm', ['install', '--no-audit', '--no-fund', '--no-save', `${name}@${version}`], {
      cwd: folder,
      timeout: INSTALL_MS,
      shell,
    });
    return await checkVersion();
  } catch (error) {
    console.warn(`${name} is not tested: ${error instanceof Error ? error.message.slice(0, 500) : String(error)}`);
    return undefined;
  }
}
