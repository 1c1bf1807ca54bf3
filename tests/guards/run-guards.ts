// `npm run test:guards -- [--no-app] [part of a name…]`: disables each guard in a copy of the working tree; its tests must pass with it and fail without it.
// `--no-app` leaves out the guards for which the app is built anew.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { applyPatch, type Guard } from './guard.ts';
import { GUARDS } from './guard-list.ts';

const root = join(import.meta.dirname, '../..');
const copy = mkdtempSync(join(tmpdir(), 'perch-guards-'));
const reportFile = join(copy, 'report.json');

const report = z.object({
  testResults: z.array(z.object({ name: z.string(), assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })) })),
});
type FileResult = z.infer<typeof report>['testResults'][number];

interface Outcome {
  guard: Guard;
  verdict: string;
  isGood: boolean;
  ms: number;
}

function copyTree(): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  for (const file of listed.split('\0')) if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
}

/** Results of test files, as far as they could be loaded. The end-to-end configuration builds the app if its sources have changed. */
async function runTests(files: readonly string[], { only, needsApp = false }: Partial<Guard> = {}): Promise<FileResult[]> {
  rmSync(reportFile, { force: true });
  const config = needsApp ? 'vitest.e2e.config.ts' : 'tests/guards/vitest.config.ts';
  const args = ['run', '--config', config, '--reporter=json', `--outputFile=${reportFile}`, ...files];
  const vitest = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...args, ...(only === undefined ? [] : ['-t', only])], {
    cwd: copy,
    stdio: 'ignore',
  });
  await new Promise((done) => vitest.once('close', done).once('error', done));
  return existsSync(reportFile) ? report.parse(JSON.parse(readFileSync(reportFile, 'utf8'))).testResults : [];
}

/** Results of the guards' tests while all guards are there. */
async function runAll(needsApp: boolean): Promise<FileResult[]> {
  const selectedGuards = guards.filter((guard) => (guard.needsApp ?? false) === needsApp);
  if (selectedGuards.length === 0) return [];
  const startedAt = performance.now();
  const only = selectedGuards.every((guard) => guard.only !== undefined)
    ? { only: selectedGuards.map((guard) => guard.only).join('|') }
    : {};
  const results = await runTests([...new Set(selectedGuards.map(({ test }) => test))], { needsApp, ...only });
  console.log(
    `${needsApp ? 'Tests of the built app' : 'All tests'} with their guards: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
  );
  return results;
}

/** Names of the guard's tests with this status. */
function findTests(results: readonly FileResult[], { test, only = '' }: Guard, status: string): string[] {
  const tests = results.find(({ name }) => name.replaceAll('\\', '/').endsWith(`/${test}`))?.assertionResults ?? [];
  return tests.filter((each) => each.status === status && new RegExp(only).test(each.fullName)).map(({ fullName }) => fullName);
}

async function checkGuard(guard: Guard, all: readonly FileResult[]): Promise<Pick<Outcome, 'verdict' | 'isGood'>> {
  // Beside all the others, a test may have been too slow.
  const before = findTests(all, guard, 'failed').length > 0 ? await runTests([guard.test], guard) : all;
  if (findTests(before, guard, 'failed').length > 0) return { verdict: 'red with the guard', isGood: false };
  const passed = new Set(findTests(before, guard, 'passed'));
  if (passed.size === 0) return { verdict: 'no test ran', isGood: false };
  const path = join(copy, guard.file);
  const original = readFileSync(path, 'utf8');
  try {
    writeFileSync(path, applyPatch(guard, copy));
    const after = await runTests([guard.test], guard);
    const failed = findTests(after, guard, 'failed').filter((name) => passed.has(name));
    if (failed.length > 0) return { verdict: 'red', isGood: true };
    return { verdict: findTests(after, guard, 'passed').length > 0 ? 'STAYS GREEN' : 'tests did not load', isGood: false };
  } catch (error) {
    return { verdict: error instanceof Error ? error.message : String(error), isGood: false };
  } finally {
    writeFileSync(path, original);
  }
}

function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

const { values, positionals: namesToRun } = parseArgs({
  options: { 'no-app': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const guards = GUARDS.filter(
  ({ name, needsApp }) =>
    !(values['no-app'] && needsApp) &&
    (namesToRun.length === 0 || namesToRun.some((part) => name.toLowerCase().includes(part.toLowerCase()))),
);
const outcomes: Outcome[] = [];
try {
  copyTree();
  for (const needsApp of [false, true]) {
    const before = await runAll(needsApp);
    for (const guard of guards.filter((each) => (each.needsApp ?? false) === needsApp)) {
      const from = performance.now();
      const outcome = { guard, ...(await checkGuard(guard, before)), ms: performance.now() - from };
      outcomes.push(outcome);
      console.log(`${guard.name}: ${outcome.verdict}`);
    }
  }
} finally {
  rmSync(copy, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}
console.log('');
printTable([
  ['Guard', 'File', 'Test', 'App built', 'Without it', 'Seconds'],
  ...outcomes.map(({ guard, verdict, ms }) => [
    guard.name,
    guard.file,
    guard.test,
    guard.needsApp ? 'yes' : '',
    verdict,
    (ms / 1000).toFixed(1),
  ]),
]);
const bad = outcomes.filter(({ isGood }) => !isGood);
console.log(`\n${outcomes.length - bad.length} of ${outcomes.length} guards are proven by tests.`);
if (bad.length > 0 || outcomes.length === 0) process.exitCode = 1;
