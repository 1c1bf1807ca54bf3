import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { END_TO_END_STEP, type Group, LANGUAGE, LINT, type Step, TYPES, UNIT_STEP } from './test-steps.ts';
import { LONG_UNIT_TESTS, findTestsOfFeatures } from './suites.ts';

const END_TO_END_FILE = /^tests\/(e2e|faults|vault-e2e|conformance)\/.*\.test\.ts$/;
const SOURCE_FILE = /\.(ts|js|svelte)$/;

/**
 * Files that differ from `base`, uncommitted and untracked ones included. Default: what the upstream branch lacks, or, without an upstream,
 * the uncommitted changes.
 */
async function findChangedFiles(root: string, base?: string): Promise<{ base: string; files: string[] }> {
  const git = async (...args: string[]): Promise<string> => (await promisify(execFile)('git', args, { cwd: root })).stdout.trim();
  const from = base ?? (await git('merge-base', 'HEAD', '@{upstream}').catch(() => 'HEAD'));
  const changed = await git('diff', '--name-only', from);
  const untracked = await git('ls-files', '--others', '--exclude-standard');
  return { base: from, files: [...new Set(`${changed}\n${untracked}`.split('\n').filter((file) => file !== ''))] };
}

/** Type checks whose files are among these. */
function getTypeChecks(files: readonly string[]): Step[] {
  const hasChanged = (pattern: RegExp): boolean => files.some((file) => pattern.test(file));
  const steps: Step[] = [];
  if (hasChanged(/^(web|shared)\/(?!gateway\/|library\/).*\.(ts|svelte|json)$/)) steps.push(TYPES.sync, TYPES.pages);
  if (hasChanged(/^shared\/.*\.ts$/)) steps.push(TYPES.shared);
  if (hasChanged(/^(shared|web\/gateway)\/.*\.ts$/)) steps.push(TYPES.gateway);
  if (hasChanged(/^web\/(library|gateway\/(knowledge|providers|storage))\/.*\.ts$/)) steps.push(TYPES.library);
  if (hasChanged(/^(web\/(library\/ui|canvas|kit\/icons|paint)|shared)\/.*\.ts$/)) steps.push(TYPES.ui);
  if (hasChanged(/^(shared|bridge|tests|web\/gateway)\/.*\.ts$|\.test\.ts$/)) steps.push(TYPES.bridge);
  return steps;
}

/** `npm run test:changed`: types, lint, the unit tests that import what changed, and the end-to-end tests of the changed features. */
export async function getChangedSteps(root: string, since?: string): Promise<Group[]> {
  const { base, files } = await findChangedFiles(root, since);
  if (files.length === 0) {
    console.log(`Nothing differs from ${base}.`);
    return [];
  }
  console.log(`${files.length} files differ from ${base}.`);
  const existing = files.filter((file) => existsSync(join(root, file)));
  const sources = existing.filter((file) => SOURCE_FILE.test(file));
  const changedUnit = ['--changed', base, '--passWithNoTests', ...LONG_UNIT_TESTS.flatMap((file) => ['--exclude', file])];
  const journeys = [...new Set([...existing.filter((file) => END_TO_END_FILE.test(file)), ...findTestsOfFeatures(files)])];
  return [
    [
      [...getTypeChecks(files), ...(sources.length > 0 ? [LINT(sources)] : []), LANGUAGE],
      [UNIT_STEP('Unit tests of the change', ...changedUnit)],
    ],
    ...(journeys.length > 0 ? [[[END_TO_END_STEP('End to end of the change', ...journeys)]]] : []),
  ];
}
