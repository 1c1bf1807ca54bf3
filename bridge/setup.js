// What `npm start` and `npm test` need before they can run: dependencies, the built app, a browser. Does only what has changed.
// The first run is on the system's Node, maybe 20, with nothing installed: plain JavaScript, and nothing but Node's own modules.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** What the app is built from; vite.config.ts hashes the same. */
export const SOURCES = ['web', 'shared', 'public', 'vite.config.ts', 'package-lock.json'];

/** @param {string} root */
const places = (root) => ({
  lock: join(root, 'package-lock.json'),
  installed: join(root, 'node_modules', '.package-lock.json'),
  installedStamp: join(root, 'node_modules', '.perch-installed'),
  node: join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node'),
  build: join(root, 'dist', 'app', 'build.json'),
  buildStamp: join(root, '.cache', 'built'),
  browserStamp: join(root, '.cache', 'browser'),
});

/**
 * Whether node_modules are what the lock file says. A person's own `npm install` after the last change of the lock counts too.
 * @param {string} root
 */
export function dependenciesCurrent(root) {
  const { lock, installed, installedStamp, node } = places(root);
  if (!existsSync(node) || !existsSync(installed)) return false;
  if (read(installedStamp) === hashOf(lock)) return true;
  if (statSync(installed).mtimeMs < statSync(lock).mtimeMs) return false;
  writeFileSync(installedStamp, hashOf(lock));
  return true;
}

/**
 * The sources' names, sizes and times: changes whenever they do, and is had without reading them.
 * @param {string} root
 */
export function fingerprint(root) {
  const hash = createHash('sha256');
  /** @param {string} path */
  const add = (path) => {
    const stat = statSync(join(root, path), { throwIfNoEntry: false });
    if (!stat) return;
    if (!stat.isDirectory()) return void (path.endsWith('.test.ts') || hash.update(`${path} ${stat.size} ${stat.mtimeMs}\n`));
    for (const name of readdirSync(join(root, path)).sort()) add(`${path}/${name}`);
  };
  SOURCES.forEach(add);
  return hash.digest('hex');
}

/**
 * Whether the built app is of these sources, as far as times can tell.
 * @param {string} root
 */
export function buildCurrent(root) {
  const { build, buildStamp } = places(root);
  const built = buildOf(build);
  return built !== undefined && read(buildStamp) === `${built} ${fingerprint(root)}`;
}

/**
 * Notes that the built app is of the sources with this fingerprint, taken before the build: what changes meanwhile is built next time.
 * @param {string} root @param {string} sources
 */
export function markBuilt(root, sources) {
  const { build, buildStamp } = places(root);
  mkdirSync(dirname(buildStamp), { recursive: true });
  writeFileSync(buildStamp, `${buildOf(build)} ${sources}`);
}

/** @param {string} path */
const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);
/** @param {string} path */
const hashOf = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** @param {string} path */
function buildOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).build;
  } catch {
    return undefined;
  }
}

/** @param {string} line */
const say = (line) => void process.stderr.write(`${line}\n`);

class SetupError extends Error {
  /** @param {string} message @param {string} report what the failed program wrote, where that was kept back */
  constructor(message, report = '') {
    super(message);
    this.report = report;
  }
}

/**
 * Runs a program, saying every 20 s that it still does. Resolves with its standard output where that is captured.
 * @param {string} what @param {string} program @param {string[]} args
 * @param {{ cwd: string, capture?: boolean, quiet?: boolean, interactive?: boolean, shell?: boolean }} options
 * @returns {Promise<string>}
 */
function run(what, program, args, { cwd, capture = false, quiet = false, interactive = false, shell = false }) {
  return new Promise((resolve, reject) => {
    const since = Date.now();
    const child = spawn(program, args, {
      cwd,
      shell,
      stdio: [interactive ? 'inherit' : 'ignore', capture || quiet ? 'pipe' : 2, quiet ? 'pipe' : 2],
    });
    const still = setInterval(() => say(`  … still ${what} (${Math.round((Date.now() - since) / 1000)} s)`), 20_000);
    if (interactive) clearInterval(still);
    let output = '';
    let report = '';
    child.stdout?.on('data', (chunk) => ((output += chunk), (report += chunk)));
    child.stderr?.on('data', (chunk) => (report += chunk));
    child.once('error', (error) => (clearInterval(still), reject(new SetupError(`${what} failed: ${error.message}`))));
    child.once('close', (code, signal) => {
      clearInterval(still);
      if (code === 0) return resolve(output);
      reject(new SetupError(`${what} failed (${signal ?? `exit ${code}`})`, quiet ? report : ''));
    });
  });
}

/** @param {string} root @param {string[]} args @param {boolean} quiet */
async function npm(root, args, quiet) {
  const what = 'installing the dependencies';
  const all = [...args, '--no-audit', '--no-fund', '--loglevel=error'];
  const script = process.env.npm_execpath;
  if (script !== undefined && /\.c?js$/.test(script)) await run(what, process.execPath, [script, ...all], { cwd: root, quiet });
  else await run(what, 'npm', all, { cwd: root, quiet, shell: process.platform === 'win32' });
}

/** @param {string} root */
async function install(root) {
  if (dependenciesCurrent(root)) return;
  say('Installing the dependencies (once, and when they change; a minute or so) …');
  try {
    await npm(root, ['ci', '--include=dev'], true);
  } catch (error) {
    // npm 11 refuses a lock file that lacks optional packages of other platforms, as one made where those cannot be had does. The versions
    // that it holds are taken all the same.
    if (!(error instanceof SetupError) || !error.report.includes('EUSAGE')) throw error;
    say('  `npm ci` finds the lock file incomplete (packages of other platforms): `npm install` takes what it holds');
    await npm(root, ['install', '--include=dev', '--no-save'], false);
  }
  const { node, installedStamp, lock } = places(root);
  if (!existsSync(node))
    throw new SetupError('installing the dependencies left out the `node` package’s program: allow its install script and try again');
  // What the configuration files extend is generated, and an install takes it away.
  await run('generating types', node, [join(root, 'node_modules/@sveltejs/kit/svelte-kit.js'), 'sync'], { cwd: root, quiet: true });
  writeFileSync(installedStamp, hashOf(lock));
}

/** @param {string} root */
async function build(root) {
  if (buildCurrent(root)) return;
  const { node, build: info } = places(root);
  const sources = fingerprint(root);
  // Times changed; whether the contents did, only the configuration's own hash knows. Asked where there is something to keep.
  const built = buildOf(info);
  if (built !== undefined) {
    const ask = "const { buildId } = await import('./vite.config.ts'); process.stdout.write(buildId())";
    const wanted = await run('reading the sources', node, ['--input-type=module', '-e', ask], { cwd: root, capture: true });
    if (wanted === built) return markBuilt(root, sources);
  }
  say('Building the app (when its sources change; half a minute or so) …');
  await run('building the app', node, [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn'], {
    cwd: root,
    quiet: true,
  });
  markBuilt(root, sources);
}

/** @param {string} root @param {boolean} needed whether to fail without one */
async function browser(root, needed) {
  const { node, browserStamp } = places(root);
  const named = process.env.PERCH_CHROMIUM;
  if (named) {
    if (!existsSync(named)) throw new SetupError(`PERCH_CHROMIUM names ${named}, which is not there`);
    return;
  }
  const known = read(browserStamp);
  if (known !== undefined && existsSync(known)) return;
  const interactive = Boolean(process.stdin.isTTY && process.stderr.isTTY && !process.env.CI);
  try {
    const args = [join(root, 'bridge/headless/ensure.ts'), ...(interactive ? ['--ask'] : [])];
    const found = await run('installing a browser', node, args, { cwd: root, capture: true, interactive });
    mkdirSync(dirname(browserStamp), { recursive: true });
    writeFileSync(browserStamp, found.trim());
  } catch (error) {
    // Without one `--host tab` still works, and the gateway says what is missing where it needs one.
    if (needed) throw error;
  }
}

async function main() {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  await install(root);
  await build(root);
  if (process.argv.includes('--build')) return;
  await browser(root, process.argv.includes('--test'));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  main().catch((error) => {
    if (error instanceof SetupError && error.report) process.stderr.write(error.report);
    say(error instanceof SetupError ? `setup: ${error.message}` : `setup: ${error?.stack ?? error}`);
    process.exitCode = 1;
  });
}
