import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { compileWords } from './web/words/compile.ts';

await compileWords();

// What crosses processes: the real command, a real browser, the packed package. Tests wait more than they compute, so files run side by side.
export default defineConfig({
  test: {
    setupFiles: 'tests/setup.ts',
    include: ['tests/{e2e,faults,vault-e2e,conformance}/**/*.test.ts'],
    globalSetup: ['tests/e2e/build-once.ts', 'tests/warm-browser.ts'],
    isolate: false,
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
