import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './tests/runner/slowest-first.ts';
import { compileMessages } from './web/compile-messages.ts';

await compileMessages();

// End-to-end tests: the real command, a real browser, the packed package. Files run in parallel, one per core.
export default defineConfig({
  test: {
    setupFiles: 'tests/setup.ts',
    include: ['tests/{browsers,e2e,faults,vault-e2e,conformance}/**/*.test.ts'],
    globalSetup: ['tests/e2e/build-once.ts', 'tests/warm-browser.ts'],
    sequence: { sequencer: SlowestFirst },
    isolate: false,
    maxWorkers: process.env.PERCH_CALM ? 1 : availableParallelism(),
    testTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 120_000,
  },
});
