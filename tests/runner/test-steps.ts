import { JOURNEYS, LONG_UNIT_TESTS } from './suites.ts';

/** One command, counted as one test, or one run of Vitest, counted test by test. */
export type Step =
  | { kind: 'command'; name: string; command: readonly string[] }
  /** `config` is also used to repeat a failed file; `args` select the files. */
  | { kind: 'vitest'; name: string; config: readonly string[]; args: readonly string[] };

/** Steps that run sequentially. */
export type Lane = readonly Step[];
/** Lanes that run in parallel; groups run sequentially. */
export type Group = readonly Lane[];

/** The native compiler takes less than half the time of TypeScript 6, which ESLint and svelte-check still need. */
const tsc = 'node_modules/typescript-native/bin/tsc';
const command = (name: string, ...args: string[]): Step => ({ kind: 'command', name, command: args });
const exclude = (files: readonly string[]): string[] => files.flatMap((file) => ['--exclude', file]);

export const TYPES = {
  sync: command('Types: generate', 'node_modules/@sveltejs/kit/svelte-kit.js', 'sync'),
  shared: command('Types: shared', tsc, '-p', 'shared'),
  gateway: command('Types: gateway', tsc, '-p', 'web/gateway'),
  library: command('Types: libraries', tsc, '-p', 'web/library'),
  ui: command('Types: perch/ui', tsc, '-p', 'web/library/ui'),
  bridge: command('Types: bridge and tests', tsc, '-p', 'bridge'),
  pages: command(
    'Types: pages',
    ...['node_modules/svelte-check/bin/svelte-check', '--tsconfig', './tsconfig.json', '--fail-on-warnings', '--output', 'human'],
  ),
} as const;
export const LINT = (files: readonly string[] = ['.']): Step =>
  command(
    'Lint',
    'node_modules/eslint/bin/eslint.js',
    '--cache',
    '--cache-strategy',
    'content',
    '--cache-location',
    '.cache/eslint',
    ...files,
  );

export const UNIT_STEP = (name: string, ...args: string[]): Step => ({ kind: 'vitest', name, config: [], args });
export const END_TO_END_STEP = (name: string, ...args: string[]): Step => ({
  kind: 'vitest',
  name,
  config: ['--config', 'vitest.e2e.config.ts'],
  args,
});

export const LANGUAGE = command('Language', 'tests/language/check-language.ts');

const staticChecks: Lane = [...Object.values(TYPES), LINT(), LANGUAGE];

/** `npm test`. */
export const SHORT_STEPS = (): Group[] => [
  [staticChecks, [UNIT_STEP('Unit tests', ...exclude(LONG_UNIT_TESTS))]],
  [[END_TO_END_STEP('Main journeys', ...JOURNEYS)]],
];

/** `npm run test:rest`: the tests of `test:all` that `npm test` leaves out. Long unit tests mostly wait for processes, so they run in parallel with the browsers. */
export const REST_STEPS = (): Group[] => [
  [[UNIT_STEP('Long unit tests', '--maxWorkers=2', ...LONG_UNIT_TESTS)], [END_TO_END_STEP('End to end', ...exclude(JOURNEYS))]],
];

export const ALL_STEPS = (): Group[] => [...SHORT_STEPS(), ...REST_STEPS()];
