// `npm test`: everything that can fail, in order, with one count at the end.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { countVitest, type Count } from './unit/count.ts';

const root = join(import.meta.dirname, '..');
const scratch = mkdtempSync(join(tmpdir(), 'perch-tests-'));
const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}` };

function run(script: string, args: readonly string[]): Promise<number> {
  return new Promise((done) => {
    const child = spawn(process.execPath, [join(root, script), ...args], { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', () => done(1));
    child.once('exit', (code) => done(code ?? 1));
  });
}

/** A command that passes or fails as a whole. */
const command =
  (script: string, ...args: string[]) =>
  async (): Promise<Count> =>
    (await run(script, args)) === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };

/** A run of Vitest, counted test by test. */
const vitest =
  (name: string, ...args: string[]) =>
  async (): Promise<Count> => {
    const report = join(scratch, `${name}.json`);
    const code = await run('node_modules/vitest/vitest.mjs', [
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...args,
    ]);
    return countVitest(readReport(report), code);
  };

function readReport(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

const tsc = 'node_modules/typescript/bin/tsc';
const STEPS: [heading: string, run: () => Promise<Count>][] = [
  ['Types: generated ones', command('node_modules/@sveltejs/kit/svelte-kit.js', 'sync')],
  ['Types: the contract', command(tsc, '-p', 'shared')],
  ['Types: the gateway', command(tsc, '-p', 'web/gateway')],
  ['Types: the bridge and all tests', command(tsc, '-p', 'bridge')],
  [
    'Types: the pages',
    command('node_modules/svelte-check/bin/svelte-check', '--tsconfig', './tsconfig.json', '--fail-on-warnings', '--output', 'human'),
  ],
  ['Lint', command('node_modules/eslint/bin/eslint.js', '.')],
  ['Unit tests', vitest('unit')],
  ['End to end', vitest('e2e', '--config', 'vitest.e2e.config.ts')],
];

const total: Count = { passed: 0, failed: 0 };
const failures: string[] = [];
const since = performance.now();
try {
  for (const [heading, step] of STEPS) {
    console.log(`\n── ${heading} ${'─'.repeat(Math.max(0, 70 - heading.length))}`);
    const start = performance.now();
    const { passed, failed, names = [] } = await step();
    total.passed += passed;
    total.failed += failed;
    if (failed > 0) failures.push(`${heading}: ${failed}`, ...names.map((name) => `  ${name.replace(`${root}/`, '')}`));
    console.log(`${failed === 0 ? 'passed' : 'FAILED'} in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`\n${Math.round((performance.now() - since) / 1000)} s in all`);
if (failures.length > 0) console.log(`failed:\n${failures.join('\n')}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;
