// Prepares the checkout for `npm start` and `npm test`: packages, the built app, a browser. Skips steps that are up to date.
//   (no option)  everything for running: packages, the app, a browser if there is one or one can be installed
//   --build      packages and the app, compressed as well as possible
//   --tools      all packages, and the types that SvelteKit generates: for checks, lint and benches
//   --test       all packages, the app, and a browser, which is required
// Plain JavaScript with only Node's own modules: the first run uses the system's Node, possibly version 20, with nothing installed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Sources of the app, the same as vite.config.ts hashes. */
export const SOURCES = ['web', 'shared', 'public', 'docs/guide', 'vite.config.ts', 'package-lock.json'];

/** @param {string} root */
const getPaths = (root) => ({
  lock: join(root, 'package-lock.json'),
  installed: join(root, 'node_modules', '.package-lock.json'),
  installedStamp: join(root, 'node_modules', '.perch-installed'),
  node: join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node'),
  build: join(root, 'dist', 'app', 'build.json'),
  buildStamp: join(root, '.cache', 'built'),
  /** Present while the app is built, and after a build that was interrupted. */
  building: join(root, '.cache', 'building'),
  quicklyCompressed: join(root, '.cache', 'quickly-compressed'),
  browserStamp: join(root, '.cache', 'browser'),
  /** Present if the packages of the workspace `tests/tools` are installed too. */
  tools: join(root, 'node_modules', 'perch-tools'),
  kitTypes: join(root, 'node_modules', '$app', 'tsconfig.json'),
});

/**
 * Files of packages that are deleted after an install for a start, with the reason. Neither building, running, tests nor editors read them.
 * A full install (`npm ci`, `npm install`) keeps them.
 */
export const TRIMMED = [
  { files: ['**/*.map'], reason: 'source maps of packages' },
  { files: ['**/*.d.cts'], reason: 'types of CommonJS modules, which Perch does not use' },
  {
    files: ['node/node_modules/node-*/include', 'node/node_modules/node-*/share', 'node/node_modules/node-*/CHANGELOG.md'],
    reason: 'headers for native addons',
  },
  {
    files: ['onnxruntime-web/dist/*', '!ort.webgpu.min.mjs', '!ort-wasm-simd-threaded.asyncify.*', 'onnxruntime-web/lib'],
    reason: 'builds that the app does not use',
  },
  { files: ['mermaid/dist/*', '!mermaid.min.js'], reason: 'the app copies one build' },
  {
    files: ['tesseract.js-core/tesseract-core*', '!tesseract-core-simd-lstm.js', '!tesseract-core-simd-lstm.wasm'],
    reason: 'builds that the app does not use',
  },
  {
    files: ['mediabunny/dist/bundles', 'mediabunny/src'],
    reason: 'builds and sources that the app does not use',
  },
  {
    files: ['lucide/dist/umd', 'gpt-tokenizer/cjs', 'gpt-tokenizer/data', 'fabric/dist-extensions'],
    reason: 'builds that the app does not use',
  },
  { files: ['@fortawesome/free-solid-svg-icons/fa*'], reason: 'a module for each icon: the app imports them from the index' },
  {
    files: ['fabric/src', 'zod/src', 'msw/src', 'gpt-tokenizer/src', '@xenova/transformers/src'],
    reason: 'sources of what is built in the same package',
  },
  {
    files: [
      '@zip.js/zip.js/dist/*',
      '!zip-web-worker*',
      '!zip-module.wasm',
      '@xenova/transformers/dist/*',
      '!transformers.web.js',
      '!transformers.node.mjs',
    ],
    reason: 'builds that the app does not use',
  },
  {
    files: ['highlight.js/styles', 'katex/src', 'msw/lib/iife', 'protobufjs/dist', 'bintrees/test'],
    reason: 'themes, sources, builds and tests that the app does not use',
  },
  { files: ['playwright-core/lib/vite'], reason: 'pages of Playwright’s own tools, such as its trace viewer' },
];

/**
 * Whether node_modules match the lock file. An `npm install` by the user after the lock file's last change counts too.
 * @param {string} root @param {boolean} tools whether the packages of tests and checks are needed too
 */
export function areDependenciesCurrent(root, tools = false) {
  const { lock, installed, installedStamp, node, tools: toolsLink } = getPaths(root);
  if (!existsSync(node) || !existsSync(installed) || (tools && !existsSync(toolsLink))) return false;
  if (readIfExists(installedStamp) === hashFile(lock)) return true;
  if (statSync(installed).mtimeMs < statSync(lock).mtimeMs) return false;
  writeFileSync(installedStamp, hashFile(lock));
  return true;
}

/**
 * Returns a hash of the sources' names, sizes and times, which does not require reading them.
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
 * Whether the app was built from the current sources, judged by their times.
 * @param {string} root
 */
export function isBuildCurrent(root) {
  const built = readBuildId(root);
  const { buildStamp } = getPaths(root);
  return built !== undefined && readIfExists(buildStamp) === `${built} ${fingerprint(root)}`;
}

/**
 * Records that a build has begun: it is not current until `markBuilt`, even if it is interrupted after its `build.json` was written.
 * @param {string} root
 */
export function markBuilding(root) {
  const { building } = getPaths(root);
  mkdirSync(dirname(building), { recursive: true });
  writeFileSync(building, '');
}

/**
 * Records the fingerprint of the app's sources. Taken before the build, so that changes during it trigger the next one.
 * @param {string} root @param {string} sources
 */
export function markBuilt(root, sources) {
  const { building, buildStamp } = getPaths(root);
  mkdirSync(dirname(buildStamp), { recursive: true });
  rmSync(building, { force: true });
  writeFileSync(buildStamp, `${readBuildId(root)} ${sources}`);
}

/** @param {string} path */
const readIfExists = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);
/** @param {string} path */
const hashFile = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

/**
 * Undefined if there is no complete build.
 * @param {string} root
 */
function readBuildId(root) {
  const { build, building } = getPaths(root);
  if (existsSync(building)) return undefined;
  try {
    return JSON.parse(readFileSync(build, 'utf8')).build;
  } catch {
    return undefined;
  }
}

/** Text of the running step, shown on a terminal until its result replaces it. */
let pending = '';
const isTerminal = Boolean(process.stderr.isTTY);

/** @param {string} line */
function printLine(line) {
  process.stderr.write(isTerminal && pending ? `\r\x1b[K${line}\n${pending}` : `${line}\n`);
}

/** @param {string} text */
function setPending(text) {
  if (isTerminal) process.stderr.write(`\r\x1b[K${text}`);
  pending = text;
}

/**
 * Runs a step and prints one line with its result and duration.
 * @template T
 * @param {string} doing shown on a terminal meanwhile @param {string | ((result: T) => string)} done @param {() => Promise<T>} step
 * @returns {Promise<T>}
 */
async function timed(doing, done, step) {
  const since = performance.now();
  setPending(`${doing}…`);
  try {
    const result = await step();
    setPending('');
    printLine(`${typeof done === 'string' ? done : done(result)} (${((performance.now() - since) / 1000).toFixed(1)} s)`);
    return result;
  } finally {
    if (pending) setPending('');
  }
}

class SetupError extends Error {
  /** @param {string} message @param {string} report output of the program that failed, if it was not shown */
  constructor(message, report = '') {
    super(message);
    this.report = report;
  }
}

/** @param {string} text */
const capitalize = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * Runs a program. Prints every 20 s that it is still running. Resolves to its standard output if `capture` is set.
 * @param {string} action @param {string} program @param {string[]} args
 * @param {{ cwd: string, capture?: boolean, quiet?: boolean, interactive?: boolean, shell?: boolean, env?: Record<string, string> }} options
 * @returns {Promise<string>}
 */
function run(action, program, args, { cwd, capture = false, quiet = false, interactive = false, shell = false, env = {} }) {
  return new Promise((resolve, reject) => {
    const since = Date.now();
    const child = spawn(program, args, {
      cwd,
      shell,
      env: { ...process.env, ...env },
      stdio: [interactive ? 'inherit' : 'ignore', capture || quiet ? 'pipe' : 2, quiet ? 'pipe' : 2],
    });
    const reminder = setInterval(() => printLine(`  Still ${action}… (${Math.round((Date.now() - since) / 1000)} s)`), 20_000);
    if (interactive) clearInterval(reminder);
    let output = '';
    let report = '';
    child.stdout?.on('data', (chunk) => ((output += chunk), (report += chunk)));
    child.stderr?.on('data', (chunk) => (report += chunk));
    child.once('error', (error) => (clearInterval(reminder), reject(new SetupError(`${capitalize(action)} failed: ${error.message}`))));
    child.once('close', (code, signal) => {
      clearInterval(reminder);
      if (code === 0) return resolve(output);
      reject(new SetupError(`${capitalize(action)} failed (${signal ?? `exit ${code}`})`, quiet ? report : ''));
    });
  });
}

/** @param {string} root @param {string[]} args @param {boolean} quiet */
async function npm(root, args, quiet) {
  const action = 'installing packages';
  // Uses npm's cache, since the lock file pins all versions.
  const allArgs = [...args, '--include=dev', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  const script = process.env.npm_execpath;
  if (script !== undefined && /\.c?js$/.test(script)) await run(action, process.execPath, [script, ...allArgs], { cwd: root, quiet });
  else await run(action, 'npm', allArgs, { cwd: root, quiet, shell: process.platform === 'win32' });
}

/**
 * Returns npm's arguments to install the packages. Keeps a full install full, and adds to an install for a start.
 * @param {string} root @param {boolean} tools
 */
export function getNpmArguments(root, tools) {
  const { tools: toolsLink } = getPaths(root);
  if (!tools && !existsSync(toolsLink)) return ['ci', '--workspaces=false'];
  const onlyToolsMissing = !existsSync(toolsLink) && areDependenciesCurrent(root);
  return onlyToolsMissing ? ['install', '--no-save'] : ['ci'];
}

/** @param {string} root @param {boolean} tools whether to install what tests and checks need too */
async function install(root, tools) {
  if (areDependenciesCurrent(root, tools)) return;
  const { node, installedStamp, lock, tools: toolsLink } = getPaths(root);
  const args = getNpmArguments(root, tools);
  const [subcommand, ...scope] = args;
  await timed('Installing packages', existsSync(toolsLink) || tools ? 'Installed all packages' : 'Installed packages', async () => {
    try {
      await npm(root, args, true);
    } catch (error) {
      // npm 11 refuses a lock file without the optional packages of other platforms. Such a file is written by an npm that could not
      // fetch them. Its versions still hold.
      if (!(error instanceof SetupError) || subcommand !== 'ci' || !error.report.includes('EUSAGE')) throw error;
      printLine('  The lock file has no packages for other platforms. Using `npm install` instead of `npm ci`');
      await npm(root, ['install', '--no-save', ...scope], false);
    }
    if (!existsSync(node)) throw new SetupError('The `node` package is incomplete. Allow its install script and try again.');
    if (scope.length > 0) trim(root);
  });
  writeFileSync(installedStamp, hashFile(lock));
}

/**
 * Deletes the files of packages that nothing reads.
 * @param {string} root
 */
export function trim(root) {
  const modules = join(root, 'node_modules');
  /** @param {string} name */
  const toPattern = (name) => new RegExp(`^${name.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`);
  const patternsInAnyFolder = TRIMMED.flatMap(({ files }) =>
    files.flatMap((file) => (file.startsWith('**/') ? [toPattern(file.slice(3))] : [])),
  );
  for (const { files } of TRIMMED) {
    const keptPatterns = files.flatMap((file) => (file.startsWith('!') ? [toPattern(file.slice(1))] : []));
    for (const file of files)
      if (!file.startsWith('!') && !file.startsWith('**/'))
        for (const path of expand(modules, file.split('/'), toPattern, keptPatterns)) rmSync(path, { recursive: true, force: true });
  }
  for (const entry of readdirSync(modules, { withFileTypes: true, recursive: true }))
    if (entry.isFile() && patternsInAnyFolder.some((pattern) => pattern.test(entry.name)))
      rmSync(join(entry.parentPath ?? entry.path, entry.name));
}

/**
 * Returns the paths below a folder that match a pattern of names, except those whose last name matches `keptPatterns`.
 * @param {string} folder @param {string[]} names @param {(name: string) => RegExp} toPattern @param {RegExp[]} keptPatterns
 * @returns {string[]}
 */
function expand(folder, [name = '', ...rest], toPattern, keptPatterns) {
  const matching = name.includes('*')
    ? (existsSync(folder) ? readdirSync(folder) : []).filter((each) => toPattern(name).test(each))
    : [name];
  if (rest.length > 0) return matching.flatMap((each) => expand(join(folder, each), rest, toPattern, keptPatterns));
  return matching.filter((each) => !keptPatterns.some((pattern) => pattern.test(each))).map((each) => join(folder, each));
}

/**
 * Generates the file that tsconfig.json extends, which an install deletes.
 * @param {string} root
 */
async function generateTypes(root) {
  const { node, kitTypes } = getPaths(root);
  if (existsSync(kitTypes)) return;
  await timed('Generating route types', 'Generated route types', () =>
    run('generating route types', node, [join(root, 'node_modules/@sveltejs/kit/svelte-kit.js'), 'sync'], { cwd: root, quiet: true }),
  );
}

/**
 * Lets git check the subjects of commits (tests/hooks), unless hooks are configured already or this is not a git checkout.
 * @param {string} root
 */
export function useHooks(root) {
  /** @param {string[]} args */
  const git = (...args) => spawnSync('git', ['-C', root, 'config', ...args], { encoding: 'utf8' });
  if (existsSync(join(root, '.git')) && git('--get', 'core.hooksPath').status === 1) git('core.hooksPath', 'tests/hooks');
}

/** @param {string} root @param {boolean} quickly use a compression that takes a twentieth of the time */
async function build(root, quickly) {
  const { node, quicklyCompressed } = getPaths(root);
  /** @param {string} action @param {string} script */
  const evaluate = (action, script) => run(action, node, ['--input-type=module', '-e', script], { cwd: root, capture: true });
  if (!isBuildCurrent(root)) {
    const sources = fingerprint(root);
    // Times have changed. The configuration's own hash tells whether contents have, which matters only if there is something to keep.
    const built = readBuildId(root);
    const currentBuild =
      built &&
      (await evaluate(
        'reading the sources',
        "const { computeBuildId } = await import('./vite.config.ts'); process.stdout.write(computeBuildId())",
      ));
    if (built === undefined || currentBuild !== built)
      await timed('Building the app', 'Built the app', async () => {
        rmSync(quicklyCompressed, { force: true });
        markBuilding(root);
        const args = [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn'];
        await run('building the app', node, args, { cwd: root, quiet: true, env: quickly ? { PERCH_COMPRESS: 'quickly' } : {} });
        if (quickly) writeFileSync(quicklyCompressed, '');
      });
    markBuilt(root, sources);
  }
  if (quickly || !existsSync(quicklyCompressed)) return;
  await timed('Compressing the app', 'Compressed the app', () =>
    evaluate(
      'compressing the app',
      "const { compressFolder } = await import('./web/compress-folder.ts'); await compressFolder('dist/app')",
    ),
  );
  rmSync(quicklyCompressed);
}

/**
 * Looks for a browser, asks whether to install one if there is none, and returns the installation, which runs in parallel with the build.
 * @param {string} root @param {boolean} needed whether a missing browser is an error
 * @returns {Promise<() => Promise<void>>}
 */
async function findBrowser(root, needed) {
  const { node, browserStamp } = getPaths(root);
  const skipInstallation = async () => {};
  const configured = process.env.PERCH_CHROMIUM;
  if (configured) {
    if (!existsSync(configured)) throw new SetupError(`PERCH_CHROMIUM is set to ${configured}, which doesn’t exist`);
    return skipInstallation;
  }
  const remembered = readIfExists(browserStamp);
  if (remembered !== undefined && existsSync(remembered)) return skipInstallation;
  /** @param {string} path */
  const remember = (path) => {
    mkdirSync(dirname(browserStamp), { recursive: true });
    writeFileSync(browserStamp, path);
  };
  /** @param {string[]} options */
  const runEnsure = async (...options) => {
    const args = [join(root, 'bridge/headless/ensure.ts'), ...options];
    const interactive = options.includes('--ask');
    return (await run('installing a browser', node, args, { cwd: root, capture: true, interactive })).trim();
  };
  const found = await timed(
    'Looking for a browser',
    (path) => (path === '' ? 'No browser found' : `Found a browser: ${path}`),
    () => runEnsure('--find'),
  );
  if (found !== '') {
    remember(found);
    return skipInstallation;
  }
  // Without a browser `--host tab` still works, and the gateway says what is missing when it needs one.
  /** @param {() => Promise<void>} step */
  const installOrIgnore = (step) => (needed ? step() : step().catch(() => {}));
  if (process.stdin.isTTY && process.stderr.isTTY && !process.env.CI && (await runEnsure('--ask')) === 'no') {
    if (needed) throw new SetupError('Tests need a browser. Install Chromium or Chrome, or set PERCH_CHROMIUM.');
    return skipInstallation;
  }
  return () =>
    installOrIgnore(async () => {
      const since = performance.now();
      const installed = await runEnsure('--install');
      remember(installed);
      printLine(`Installed a browser: ${installed} (${((performance.now() - since) / 1000).toFixed(1)} s)`);
    });
}

async function main() {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  /** @param {string} option */
  const hasOption = (option) => process.argv.includes(option);
  const test = hasOption('--test');
  const tools = test || hasOption('--tools');
  await install(root, tools);
  if (tools) {
    await generateTypes(root);
    useHooks(root);
  }
  if (hasOption('--tools')) return;
  if (hasOption('--build')) return build(root, false);
  const installBrowser = await findBrowser(root, test);
  await Promise.all([build(root, !test), installBrowser()]);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  main().catch((error) => {
    if (error instanceof SetupError && error.report) process.stderr.write(error.report);
    printLine(error instanceof SetupError ? `setup: ${error.message}` : `setup: ${error?.stack ?? error}`);
    process.exit(1);
  });
}
