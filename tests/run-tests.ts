// `npm test`, `npm run test:all`, `test:rest` (what is left of test:all after npm test) and `test:changed`.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { getChangedSteps } from './runner/changed-files.ts';
import { type TestFailure, groupSkipped, parseVitestReport, type StepResult } from './runner/vitest-report.ts';
import { ALL_STEPS, type Lane, REST_STEPS, type Step, SHORT_STEPS } from './runner/test-steps.ts';

const root = join(import.meta.dirname, '..');
const scratch = mkdtempSync(join(tmpdir(), 'perch-tests-'));
const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}` };
const SLOWEST = 10;
/** Runs one lane and one browser at a time: slower, but no test competes with another. */
const isSerial = Boolean(process.env.PERCH_CALM);
/** Maximum number of failed files to repeat one by one. More failures have another cause than load. */
const MAX_REPEATED = 10;

const { values: options } = parseArgs({
  options: {
    all: { type: 'boolean' },
    rest: { type: 'boolean' },
    changed: { type: 'boolean' },
    /** Git revision that `--changed` compares with. */
    base: { type: 'string' },
    /** File that holds the counts and failures of earlier runs, and gets this run's: the end of the output is then about all of them. */
    sum: { type: 'string' },
  },
});

interface Output {
  code: number;
  text: string;
}

/** Runs a program of the project's own Node. Output goes to the terminal, or is returned if `quiet`. */
function run([script = '', ...args]: readonly string[], quiet: boolean): Promise<Output> {
  return new Promise((done) => {
    const child = spawn(process.execPath, [join(root, script), ...args], {
      cwd: root,
      env,
      stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
    });
    let text = '';
    child.stdout?.on('data', (chunk) => (text += chunk));
    child.stderr?.on('data', (chunk) => (text += chunk));
    child.once('error', (error) => done({ code: 1, text: `${text}${error.message}` }));
    child.once('close', (code) => done({ code: code ?? 1, text }));
  });
}

async function runVitest(name: string, args: readonly string[], quiet: boolean): Promise<StepResult> {
  const report = join(scratch, `${name}.json`);
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { code } = await run(['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...args], quiet);
  return parseVitestReport(readJson(report), code, root, args.includes('--passWithNoTests'));
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const heading = (text: string): void => console.log(`\n── ${text} ${'─'.repeat(Math.max(0, 70 - text.length))}`);

const sum: StepResult = { passed: 0, failed: 0, failures: [], skipped: [], files: [] };
/** Report of each failure, printed at the end. */
const failures: string[] = [];
/** Failed files, to be repeated once nothing else runs. */
const failed = new Map<string, { config: readonly string[]; failures: TestFailure[] }>();

function addResult(step: Step, result: Pick<StepResult, 'passed' | 'failed'> & Partial<StepResult>): void {
  sum.passed += result.passed;
  sum.failed += result.failed;
  sum.skipped.push(...(result.skipped ?? []));
  sum.files.push(...(result.files ?? []));
  if (result.failed > 0 && (result.failures ?? []).length === 0) failures.push(step.name);
  for (const failure of result.failures ?? []) {
    const of = failed.get(failure.file) ?? { config: step.kind === 'vitest' ? step.config : [], failures: [] };
    of.failures.push(failure);
    failed.set(failure.file, of);
  }
}

/** Whether failed tests fail without the rest of the suite too. A failed test stays a failure either way. */
async function rerunFailedAlone(): Promise<void> {
  for (const [file, of] of failed) {
    const again = failed.size > MAX_REPEATED ? undefined : await runVitest('again', [...of.config, file], true);
    for (const { test, messages } of of.failures) {
      const isRed = again?.failures.some((failure) => failure.file === file && (test === undefined || failure.test === test));
      const verdict = isRed === undefined ? 'not repeated: too many failures' : isRed ? 'red' : 'red only in company';
      failures.push([`${file}${test === undefined ? '' : `: ${test}`} (${verdict})`, ...messages].join('\n    '));
    }
  }
}

async function runStep(step: Step, isConcurrent: boolean): Promise<void> {
  const start = performance.now();
  let report = '';
  let isRed: boolean;
  if (step.kind === 'vitest') {
    if (!isConcurrent) heading(step.name);
    const result = await runVitest(step.name.replaceAll(/\W+/g, '-'), [...step.config, ...step.args], false);
    isRed = result.failed > 0;
    addResult(step, result);
  } else {
    const { code, text } = await run(step.command, isConcurrent);
    isRed = code !== 0;
    if (isRed) report = text;
    addResult(step, { passed: isRed ? 0 : 1, failed: isRed ? 1 : 0 });
  }
  console.log(`${report}${step.name}: ${isRed ? 'FAILED' : 'passed'} in ${seconds(start)}`);
}

const steps = options.changed
  ? await getChangedSteps(root, options.base)
  : options.all
    ? ALL_STEPS()
    : options.rest
      ? REST_STEPS()
      : SHORT_STEPS();
const since = performance.now();
try {
  for (const group of steps) {
    const [first] = group;
    const inCompany = group.length > 1 && !isSerial;
    if (group.length > 1) heading(group.map((lane) => lane.map(({ name }) => name).join(', ')).join(' + '));
    else if (first?.[0]?.kind === 'command') heading(first.map(({ name }) => name).join(', '));
    const runLane = async (lane: Lane): Promise<void> => {
      for (const step of lane) await runStep(step, inCompany);
    };
    if (inCompany) await Promise.all(group.map(runLane));
    else for (const lane of group) await runLane(lane);
  }
  await rerunFailedAlone();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

if (sum.files.length > 0) {
  console.log('\nSlowest files:');
  for (const { file, seconds } of sum.files.sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST))
    console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${file}`);
}
if (sum.skipped.length > 0) {
  console.log('\nSkipped:');
  for (const { reason, tests, files } of groupSkipped(sum.skipped))
    console.log(`  ${tests} in ${files.length === 1 ? (files[0] ?? '') : `${files.length} files`}: ${reason}`);
}
console.log(`\n${Math.round((performance.now() - since) / 1000)} s in all`);

const Total = z.object({ passed: z.number(), failed: z.number(), failures: z.array(z.string()) });
const none = { passed: 0, failed: 0, failures: [] };
const earlier = Total.safeParse(options.sum === undefined ? undefined : readJson(options.sum)).data ?? none;
const total = {
  passed: sum.passed + earlier.passed,
  failed: sum.failed + earlier.failed,
  failures: [...earlier.failures, ...failures],
};
if (total.failures.length > 0) console.log(`failed:\n  ${total.failures.join('\n  ')}`);
if (options.sum !== undefined) writeFileSync(options.sum, JSON.stringify(total));
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = sum.failed > 0 ? 1 : 0;
